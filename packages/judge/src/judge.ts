import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { AppError, startDeadline } from '@countersign/contracts';
import type { PackReplayReport } from '@countersign/contracts/governance-kernel';
import type { ExportReport } from '@countersign/verifier';
import type { Judged, Replayed, Result, Work } from './judged.ts';
import { Turns } from './turns.ts';

export type Judge = {
  /**
   * Never rejects because of the content of the text. Throws RATE_LIMITED when too many texts wait, of this caller or of all, and when the text
   * takes too long or too much memory.
   */
  judge(judged: Judged, caller: JudgeCaller): Promise<ExportReport>;
  /** The same of a replay. Throws INVALID_REQUEST for a policy that is no bundle. */
  replay(replayed: Replayed, caller: JudgeCaller): Promise<PackReplayReport>;
  close(): Promise<void>;
};

type JudgeCaller = {
  /** Callers take turns. */
  name: string;
  signal: AbortSignal;
};

type JudgeOptions = {
  /** Texts that may wait behind the one that is being verified. */
  waitingMax?: { ofCaller: number; ofAll: number };
  deadlineMs?: number;
};

/** The largest text of a route takes a second. */
const deadlineMsDefault = 20_000;
const waitingMaxDefault = { ofCaller: 8, ofAll: 32 };
/** Some times what the largest text of a route takes, as values and issues. */
const memory = { maxOldGenerationSizeMb: 256 };

export function createJudge({
  waitingMax = waitingMaxDefault,
  deadlineMs = deadlineMsDefault,
}: JudgeOptions = {}): Judge {
  let worker: Worker | null = null;
  const turns = new Turns(waitingMax);
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
  const inTurn = (work: Work, { name, signal }: JudgeCaller) =>
    turns.run(name, () => run(work, signal), tooManyWaiting);
  return {
    judge: async (judged, caller) => {
      const result = await inTurn({ kind: 'verify', ...judged }, caller);
      if (result.kind === 'verified') return result.report;
      throw new Error('The worker has answered another question');
    },
    replay: async (replayed, caller) => {
      const result = await inTurn({ kind: 'replay', ...replayed }, caller);
      if (result.kind === 'replayed') return result.report;
      const message = result.kind === 'refused' ? result.message : 'The worker has answered another question';
      throw new AppError('INVALID_REQUEST', message, { param: 'policy' });
    },
    close: end,
  };
}

function tooManyWaiting(): AppError {
  return new AppError('RATE_LIMITED', 'Too many texts wait to be verified. Try again later, or verify offline.');
}

/** The build, also where tests run the sources, as with processes that a test starts. */
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
