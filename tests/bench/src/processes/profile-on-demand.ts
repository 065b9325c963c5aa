// Loaded into the measured kernel before its main file. It does nothing until the bench asks for a profile, so the process that is
// profiled is the very one that was measured, and it is profiled warm.
import { Session } from 'node:inspector/promises';

const samplingIntervalMicros = 500;

process.on('message', (message) => {
  const { seconds } = message as { seconds: number }; // the bench alone holds the other end
  profile(seconds).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
// Listening alone must not keep a kernel alive that has stopped.
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
