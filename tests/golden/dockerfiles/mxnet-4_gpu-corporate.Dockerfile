FROM registry.corp/mirror/nvidia/cuda:11.2.2-cudnn8-runtime-ubuntu20.04 AS cuda
RUN mkdir -p /opt/cuda/lib \
 && for folder in /usr/local/cuda/lib64 /usr/local/cuda/lib /usr/lib/x86_64-linux-gnu; do \
        [ ! -d "$folder/" ] || find "$folder/" -maxdepth 1 \
            \( -name 'libcu*.so*' -o -name 'libnv*.so*' -o -name 'libnccl*.so*' -o -name 'libnpp*.so*' \) \
            -exec cp -a '{}' /opt/cuda/lib/ ';'; \
    done

FROM registry.corp/mirror/python:3.11-slim AS system
COPY build/ca.pem /opt/build/ca.pem
RUN dpkg -s libgomp1 libquadmath0 >/dev/null 2>&1 || { \
        cp -a /etc/apt /tmp/apt \
     && find /tmp/apt -name '*.list' -o -name '*.sources' | xargs sed -E -i \
            's#https?://((deb|security)\.debian\.org/debian|(archive|security)\.ubuntu\.com/ubuntu)#https://apt.corp/debian#' \
     && export DEBIAN_FRONTEND=noninteractive \
     && apt="apt-get -o Dir::Etc=/tmp/apt -o Acquire::Retries=2 -o Acquire::http::Timeout=20 -o Acquire::https::CaInfo=/opt/build/ca.pem" \
     && $apt -o APT::Update::Error-Mode=any update \
     && $apt install -y --no-install-recommends libgomp1 libquadmath0 \
     && rm -rf /tmp/apt /var/lib/apt/lists/*; }

FROM system AS install
ARG BENCH_BUILD=by-hand
LABEL bench.stage=$BENCH_BUILD
COPY build /opt/build
RUN set -e; export PIP_CONFIG_FILE=/opt/build/pip.conf PIP_DISABLE_PIP_VERSION_CHECK=1; \
    python -m pip --version | grep -qE '^pip (2[1-9]|[3-9][0-9])\.' \
     || python -m pip install --no-cache-dir --upgrade 'pip>=21' || true; \
    mkdir -p /opt/build/wheels; \
    python -m venv --without-pip /opt/environment; \
    export PYTHONPATH="$(python -c 'import os, pip; print(os.path.dirname(os.path.dirname(pip.__file__)))')"; \
    pip="/opt/environment/bin/python -m pip"; \
    $pip install --no-cache-dir --progress-bar off --ignore-installed \
        'mxnet-cu112>=1.9.1,<=1.9.1.post9999' \
        'numpy<1.24' \
        nvidia-ml-py

FROM system AS environment
COPY --from=install /opt/environment /opt/environment
COPY --from=cuda /opt/cuda /opt/cuda
ENV PATH=/opt/environment/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    LD_LIBRARY_PATH=/opt/cuda/lib

FROM environment
ENV PYTHONPATH=/opt/bench BENCH_BUILDER=mxnet
WORKDIR /opt/bench
ENTRYPOINT ["python", "-m", "benchmarks.run"]
LABEL org.opencontainers.image.title="mxnet 1.9.1 (4_gpu)" \
      org.opencontainers.image.version=1.9.1 \
      org.opencontainers.image.base.name=registry.corp/mirror/python:3.11-slim \
      bench.kind=image \
      bench.framework=mxnet \
      bench.version=1.9.1 \
      bench.class=4_gpu \
      bench.python=3.11
COPY benchmarks benchmarks
RUN python -m compileall -q -f benchmarks
