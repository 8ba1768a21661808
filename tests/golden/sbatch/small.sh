#!/bin/sh
#SBATCH --job-name=bench-20260102T030405Z-abcd-1
#SBATCH --array=0-0
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=10
#SBATCH --signal=B:USR1@90
#SBATCH --no-requeue
#SBATCH --export=NONE
#SBATCH --output=/shared/results/20260102T030405Z-abcd/logs/%A_%a.log
# Written by the orchestrator for one submission. A later one has a script of its own.
set -- 000
shift "$SLURM_ARRAY_TASK_ID"
part=/shared/results/20260102T030405Z-abcd/parts/"$1"
echo "part $1 on $SLURM_JOB_NODELIST"
set -- python3 -m o
warned=
trap 'warned=1; woken=1; scancel --signal=TERM "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"' USR1
trap woken=1 TERM
srun --export=ALL --nodes=1 --ntasks=1 --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=0 --wait=0 \
    "$@" run --part "$part" &
step=$!
status=127
while woken=; wait "$step"; last=$?; [ "$last" = 127 ] || status=$last; [ -n "$woken" ]; do :; done
[ "$status" = 0 ] || [ -z "$warned" ] || { echo "stopped before the time limit of this job"; exit 124; }
exit "$status"
