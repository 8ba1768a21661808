#!/bin/sh
#SBATCH --job-name=bench-20260102T030405Z-abcd-1
#SBATCH --array=0-1
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --mincpus=8
#SBATCH --time=10
#SBATCH --signal=B:USR1@90
#SBATCH --no-requeue
#SBATCH --export=NONE
#SBATCH --chdir="/local/my bench"
#SBATCH --output="/local/my bench/%x_%A_%a.log"
# Written by the orchestrator for one submission. A later one has a script of its own.
set -- 000 002
shift "$SLURM_ARRAY_TASK_ID"
part="$1"
echo "part $1 on $SLURM_JOB_NODELIST"
set -- /opt/bench/bin/orchestrator
warned=
trap 'warned=1; woken=1; scancel --signal=TERM "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"' USR1
trap woken=1 TERM
base64 -d <<'INPUTS' |
AAAA
BBBB
INPUTS
srun --export=ALL --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=0 --wait=0 --label \
    "$@" run --part "$part" --on-node '/local/my bench/20260102T030405Z-abcd' &
step=$!
status=127
while woken=; wait "$step"; last=$?; [ "$last" = 127 ] || status=$last; [ -n "$woken" ]; do :; done
[ "$status" = 0 ] || [ -z "$warned" ] || { echo "stopped before the time limit of this job"; exit 124; }
exit "$status"
