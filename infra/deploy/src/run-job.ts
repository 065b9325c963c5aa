import { ConfigError, problemText } from '@countersign/service-kit';

const failed = { start: 2, run: 1 };

/**
 * Runs a job as this process. On success it writes one line with the result. On failure it writes one sentence, and
 * exits with 2 if a retry cannot help because the configuration is invalid, or with 1 otherwise.
 */
export async function runJob(work: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await work()}\n`);
  } catch (error) {
    process.stderr.write(`${problemText(error)}\n`);
    process.exitCode = error instanceof ConfigError ? failed.start : failed.run;
  }
}
