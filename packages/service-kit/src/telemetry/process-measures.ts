import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meter } from './meter.ts';

const loopResolutionMs = 20;

/** The metrics of every process. The returned function stops them. */
export function measureProcess(meter: Meter): () => void {
  const loop = monitorEventLoopDelay({ resolution: loopResolutionMs });
  loop.enable();
  const startedAtSeconds = Date.now() / 1_000 - process.uptime();
  meter.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () => process.memoryUsage.rss());
  meter.gauge({ name: 'nodejs_heap_used_bytes', help: 'Heap in use.' }, () => process.memoryUsage().heapUsed);
  meter.total({ name: 'process_cpu_seconds_total', help: 'Processor time, in user and system mode.' }, cpuSeconds);
  meter.gauge(
    { name: 'process_start_time_seconds', help: 'Start time of the process, in seconds since the epoch.' },
    () => startedAtSeconds,
  );
  meter.gauge(
    {
      name: 'nodejs_eventloop_delay_p99_seconds',
      help: 'How late timers fire (99th percentile), since the last reading.',
    },
    () => {
      const seconds = loop.percentile(99) / 1e9;
      loop.reset();
      return Number.isFinite(seconds) ? seconds : null;
    },
  );
  return () => loop.disable();
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
