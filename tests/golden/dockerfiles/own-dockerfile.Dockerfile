FROM bench/environment:13b5570155ec
USER 0
RUN command -v python3 >/dev/null \
 || { printf '#!/bin/sh\nexec python "$@"\n' >/usr/local/bin/python3 && chmod 755 /usr/local/bin/python3; }
ENV PYTHONPATH=/opt/bench${PYTHONPATH:+:$PYTHONPATH} BENCH_BUILDER=torch
WORKDIR /opt/bench
ENTRYPOINT ["python3", "-m", "benchmarks.run"]
LABEL org.opencontainers.image.title="torch 2.1 (cpu)" \
      org.opencontainers.image.version=2.1 \
      bench.kind=image \
      bench.framework=torch \
      bench.version=2.1 \
      bench.class=cpu
COPY benchmarks benchmarks
RUN python3 -m compileall -q -f benchmarks
