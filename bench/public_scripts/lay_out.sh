#!/usr/bin/env bash
# Lay out the public scripts with our launchers, data and matrices: lay_out.sh SOURCES WORK (README.md names the sources).
set -euo pipefail

[ $# -eq 2 ] || { echo "usage: lay_out.sh SOURCES WORK" >&2; exit 2; }
here=$(dirname "${BASH_SOURCE[0]}")
sources=$1
work=$2
data=$work/data

# place FOLDER PATH...: copy into a folder of WORK
place() {
  local folder=$work/$1 path
  mkdir -p "$folder"
  for path in "${@:2}"; do
    [ -e "$path" ] || { echo "lay_out.sh: $path is missing (README.md says where it comes from)" >&2; exit 2; }
    cp -r "$path" "$folder/"
  done
}

# place_as FOLDER NAME PATH: copy one file under another name
place_as() { mkdir -p "$work/$1"; cp "$3" "$work/$1/$2"; }

old=$sources/keras-2.0.8/examples
aws=$sources/keras-mxnet-2.2.4.3/benchmark
place keras-2.0.8 "$old"/{mnist_mlp,babi_rnn,babi_memnn,lstm_text_generation,cifar10_cnn}.py "$here/launch.py"
place keras-2.0.8-short "$old"/{mnist_cnn,mnist_hierarchical_rnn}.py
place keras-2.2.4 "$sources/keras-2.2.4/examples/mnist_cnn.py" "$here/launch.py"
place keras-backends-2017 "$sources/keras-backends-2017/keras-performance-comparison/Archive/perf_test.py"
place aws "$aws/scripts/."
place aws-sparse "$aws"/sparse/linear_regression/{keras_sparse_model,run_sparse_benchmark}.py
place sktelecom "$sources/sktelecom/keras-apache-mxnet/benchmark/scripts/." "$here"/launch{,_gluon}.py
place tuberlin "$sources/tuberlin/scripts/." "$here/launch_lenet.py"

"${PYTHON:-python3}" "$here/make_data.py" "$data"
place keras-2.0.8/.keras/datasets "$data"/{mnist.npz,babi-tasks-v1-2.tar.gz,cifar-10-batches-py.tar.gz}
place_as keras-2.0.8/.keras/datasets nietzsche.txt "$data/nietzsche-short.txt"
place_as keras-2.0.8-short/.keras/datasets mnist.npz "$data/mnist-short.npz"
place_as keras-2.2.4/.keras/datasets mnist.npz "$data/mnist-short.npz"
place keras-backends-2017/.keras/datasets "$data/mnist.npz"
place aws/.keras/datasets "$data"/{cifar-10-batches-py.tar.gz,nietzsche.txt}
place tuberlin "$data/lenet_data"

# Keras reads the layout of images from $KERAS_HOME/keras.json.
for order in first last; do
  mkdir -p "$work/aws/.keras-$order"
  echo '{"floatx": "float32", "epsilon": 1e-07, "image_data_format": "channels_'$order'"}' \
    > "$work/aws/.keras-$order/keras.json"
done
# TU Berlin's script wants this folder, and a folder without files is not copied.
mkdir -p "$work/tuberlin/your_benchmark_result_hybridize_vs_xla"
echo 'keeps the folder' > "$work/tuberlin/your_benchmark_result_hybridize_vs_xla/keep.txt"

cp "$here"/*.yaml "$work/"
