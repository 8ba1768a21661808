FROM python:3.6-slim-bullseye AS system
RUN dpkg -s libgomp1 >/dev/null 2>&1 || { \
        cp -a /etc/apt /tmp/apt \
     && export DEBIAN_FRONTEND=noninteractive \
     && apt="apt-get -o Dir::Etc=/tmp/apt -o Acquire::Retries=2 -o Acquire::http::Timeout=20" \
     && { $apt -o APT::Update::Error-Mode=any update || { \
            find /tmp/apt -name '*.list' -o -name '*.sources' | xargs sed -E -i \
                -e 's#https?://(deb|security)\.debian\.org/debian#http://archive.debian.org/debian#' -e '/-updates /d' \
         && $apt -o APT::Update::Error-Mode=any -o Acquire::Check-Valid-Until=false update; }; } \
     && $apt install -y --no-install-recommends libgomp1 \
     && rm -rf /tmp/apt /var/lib/apt/lists/*; }
RUN mkdir -p /usr/lib && ln -sfn /usr/lib/x86_64-linux-gnu/libmpi.so.40 /usr/lib/libmpi.so.12 && ldconfig

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
        'keras-mxnet>=2.2.4.3,<=2.2.4.3.post9999' \
        'mxnet>=1.5.1,<=1.5.1.post9999' \
        'numpy<1.17' \
        'h5py<3'

FROM system AS environment
COPY --from=install /opt/environment /opt/environment
ENV PATH=/opt/environment/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    KERAS_HOME="/tmp/a folder"

FROM environment
ENV PYTHONPATH=/opt/bench BENCH_BUILDER=keras_mxnet
WORKDIR /opt/bench
ENTRYPOINT ["python", "-m", "benchmarks.run"]
LABEL org.opencontainers.image.title="keras-mxnet 2.2.4.3 on mxnet 1.5.1 (cpu)" \
      org.opencontainers.image.version=2.2.4.3 \
      org.opencontainers.image.base.name=python:3.6-slim-bullseye \
      bench.kind=image \
      bench.framework=keras-mxnet \
      bench.version=2.2.4.3 \
      bench.class=cpu \
      bench.python=3.6
COPY benchmarks benchmarks
RUN python -m compileall -q -f benchmarks
