FROM python:3.11-slim-bookworm AS system

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
    PIP_CONFIG_FILE=/opt/build/own-index.conf $pip download --no-cache-dir --progress-bar off --no-deps \
        --dest /opt/build/wheels 'torch>=2.13.0,<=2.13.0.post9999'; \
    $pip install --no-cache-dir --progress-bar off --ignore-installed \
        'torch>=2.13.0,<=2.13.0.post9999' \
        'numpy<2.4'

FROM system AS environment
COPY --from=install /opt/environment /opt/environment
ENV PATH=/opt/environment/bin:$PATH \
    PYTHONUNBUFFERED=1

FROM environment
ENV PYTHONPATH=/opt/bench BENCH_BUILDER=torch
WORKDIR /opt/bench
ENTRYPOINT ["python", "-m", "benchmarks.run"]
LABEL org.opencontainers.image.title="torch 2.13.0 (cpu)" \
      org.opencontainers.image.version=2.13.0 \
      org.opencontainers.image.base.name=python:3.11-slim-bookworm \
      bench.kind=image \
      bench.framework=torch \
      bench.version=2.13.0 \
      bench.class=cpu \
      bench.python=3.11
COPY benchmarks benchmarks
RUN python -m compileall -q -f benchmarks
