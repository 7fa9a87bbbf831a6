#!/bin/sh
# One worker of a Nonet farm, as `nonet scale --slurm` submits it.
set -u
task="${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}"
# A task that comes back finds its folder, and is the same worker.
state=/scratch/nonet/slurm/"$task"
mkdir -p "$state" || exit 1

told=0
worker=
trap 'told=1; [ -z "$worker" ] || kill -TERM "$worker" 2>/dev/null' TERM
/usr/local/bin/nonet worker --pool slurm --threads 32 \
    --state "$state" --name "${SLURMD_NODENAME:-node}-$task" \
    --coordinator https://head:7700 --tls certs/slurm &
worker=$!
[ "$told" = 0 ] || kill -TERM "$worker"
# A signal ends `wait` before the worker does.
while :; do
    wait "$worker"
    status=$?
    [ "$status" -gt 128 ] && kill -0 "$worker" 2>/dev/null || break
done

if [ "$told" = 1 ]; then
    # Told by Slurm while the job still runs: its time is nearly over. It queues up again for the next stretch.
    if [ "$(squeue --noheader --jobs="$task" --format=%T)" = RUNNING ]; then
        echo "task $task: its time is nearly over; it queues up again"
        exec scontrol requeue "$task"
    fi
    echo "task $task: told to end by Slurm"
elif [ "$status" = 0 ]; then
    # Released by the coordinator, with nothing left to hand in.
    echo "task $task: released"
    rm -rf -- "$state"
fi
exit "$status"
