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
    true

FROM system AS environment
COPY --from=install /opt/environment /opt/environment
ENV PATH=/opt/environment/bin:$PATH \
    PYTHONUNBUFFERED=1

FROM environment
ENV PYTHONPATH=/opt/bench BENCH_BUILDER=mxnet
WORKDIR /opt/bench
ENTRYPOINT ["python", "-m", "benchmarks.run"]
LABEL org.opencontainers.image.title="mxnet 1.9.1 (cpu)" \
      org.opencontainers.image.version=1.9.1 \
      org.opencontainers.image.base.name=python:3.11-slim-bookworm \
      bench.kind=image \
      bench.framework=mxnet \
      bench.version=1.9.1 \
      bench.class=cpu \
      bench.python=3.11
COPY benchmarks benchmarks
RUN python -m compileall -q -f benchmarks
