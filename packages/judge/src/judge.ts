import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { AppError, startDeadline } from '@countersign/contracts';
import type { PackReplayReport } from '@countersign/contracts/governance-kernel';
import type { ExportReport } from '@countersign/verifier';
import type { Judged, Replayed, Result, Work } from './judged.ts';

export type Judge = {
  /** Never rejects for what the text holds. Throws RATE_LIMITED when others wait already, or when the text takes too long or too much memory. */
  judge(judged: Judged, signal: AbortSignal): Promise<ExportReport>;
  /** The same of a replay. Throws INVALID_REQUEST for a policy that is no bundle. */
  replay(replayed: Replayed, signal: AbortSignal): Promise<PackReplayReport>;
  close(): Promise<void>;
};

type JudgeOptions = {
  /** Behind the one that is being verified. */
  waitingMax?: number;
  deadlineMs?: number;
};

/** The largest text of a route takes a second. */
const deadlineMsDefault = 20_000;
const waitingMaxDefault = 8;
/** Some times what the largest text of a route takes, as values and issues. */
const memory = { maxOldGenerationSizeMb: 256 };

export function createJudge({
  waitingMax = waitingMaxDefault,
  deadlineMs = deadlineMsDefault,
}: JudgeOptions = {}): Judge {
  let worker: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const next = () => (worker ??= startWorker());
  const end = async () => {
    const ended = worker;
    worker = null;
    await ended?.terminate();
  };
  const run = async (work: Work, signal: AbortSignal): Promise<Result> => {
    signal.throwIfAborted();
    const deadline = startDeadline({ ms: deadlineMs, signal });
    try {
      return await answerOf(next(), work, deadline.signal);
    } catch (cause) {
      await end();
      throw new AppError('RATE_LIMITED', 'The evidence takes too long here. Verify it offline.', { cause });
    } finally {
      deadline.clear();
    }
  };
  const inTurn = async (work: Work, signal: AbortSignal) => {
    if (waiting > waitingMax) throw new AppError('RATE_LIMITED', 'Others have evidence verified. Try again later.');
    waiting += 1;
    const turn = last.then(() => run(work, signal));
    last = turn.catch(() => undefined);
    return await turn.finally(() => (waiting -= 1));
  };
  return {
    judge: async (judged, signal) => {
      const result = await inTurn({ kind: 'verify', ...judged }, signal);
      if (result.kind === 'verified') return result.report;
      throw new Error('The worker has answered another question');
    },
    replay: async (replayed, signal) => {
      const result = await inTurn({ kind: 'replay', ...replayed }, signal);
      if (result.kind === 'replayed') return result.report;
      const message = result.kind === 'refused' ? result.message : 'The worker has answered another question';
      throw new AppError('INVALID_REQUEST', message, { param: 'policy' });
    },
    close: end,
  };
}

/** What was built, also where tests run the sources: as with processes that a test starts. */
const workerFile = createRequire(import.meta.url).resolve('@countersign/judge/worker');

function startWorker(): Worker {
  const worker = new Worker(workerFile, { resourceLimits: memory });
  worker.unref(); // a service that ends does not wait for it
  return worker;
}

/** Rejects when the worker fails, or when the signal is aborted before it answers. */
function answerOf(worker: Worker, work: Work, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const settled = (settle: () => void) => {
      worker.off('message', answered).off('error', failed).off('exit', failed);
      signal.removeEventListener('abort', aborted);
      worker.unref();
      settle();
    };
    const answered = (result: Result) => settled(() => resolve(result));
    const failed = (cause: unknown) => settled(() => reject(new Error('The worker has failed', { cause })));
    const aborted = () => settled(() => reject(new Error('The worker was too slow', { cause: signal.reason })));
    worker.on('message', answered).on('error', failed).on('exit', failed);
    signal.addEventListener('abort', aborted);
    worker.ref();
    worker.postMessage(work);
  });
}
