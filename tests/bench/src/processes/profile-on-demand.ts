// Loaded into each measured service before its main file. It does nothing until the bench requests a profile. The
// profiled process is therefore the measured one, and it is warm.
import { Session } from 'node:inspector/promises';

const samplingIntervalMicros = 500;

process.on('message', (message) => {
  const { seconds } = message as { seconds: number }; // only the bench sends messages here
  profile(seconds).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
// This listener alone must not keep a stopped service alive.
process.channel?.unref();

async function profile(seconds: number): Promise<unknown> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: samplingIntervalMicros });
    await session.post('Profiler.start');
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    return (await session.post('Profiler.stop')).profile;
  } finally {
    session.disconnect();
  }
}
