import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { AppError, startDeadline } from '@countersign/contracts';
import type { PackReplayReport } from '@countersign/contracts/governance-kernel';
import type { ExportReport } from '@countersign/verifier';
import type { Judged, Replayed, Result, Work } from './judged.ts';
import { Turns } from './turns.ts';

export type Judge = {
  /**
   * Reports faults of a text, and does not reject because of them. Throws RATE_LIMITED when too many texts wait, of
   * this caller or in total. It throws the same when the text takes too long or too much memory, and when `signal` is
   * aborted during the work.
   */
  judge(judged: Judged, caller: JudgeCaller): Promise<ExportReport>;
  /** Like `judge`, for a replay. Throws INVALID_REQUEST for a policy that is not a valid bundle. */
  replay(replayed: Replayed, caller: JudgeCaller): Promise<PackReplayReport>;
  close(): Promise<void>;
};

type JudgeCaller = {
  /** Callers take turns, by name. */
  name: string;
  signal: AbortSignal;
};

type JudgeOptions = {
  /** The number of texts that may wait behind the one that is being verified. */
  waitingMax?: { ofCaller: number; ofAll: number };
  deadlineMs?: number;
};

/** Verifying the largest text that a route accepts takes a second. */
const deadlineMsDefault = 20_000;
const waitingMaxDefault = { ofCaller: 8, ofAll: 32 };
/** A few times the memory that the largest text of a route needs. */
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
      throw new AppError(
        'RATE_LIMITED',
        'The evidence is too large to verify here in time. Verify it offline with countersign-verify.',
        { cause },
      );
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
      throw new Error('The worker returned the result of a different request');
    },
    replay: async (replayed, caller) => {
      const result = await inTurn({ kind: 'replay', ...replayed }, caller);
      if (result.kind === 'replayed') return result.report;
      const message =
        result.kind === 'refused' ? result.message : 'The worker returned the result of a different request';
      throw new AppError('INVALID_REQUEST', message, { param: 'policy' });
    },
    close: end,
  };
}

function tooManyWaiting(): AppError {
  return new AppError('RATE_LIMITED', 'Too many verifications are waiting. Try again later, or verify offline.');
}

/** The worker runs the build even when tests run the sources. */
const workerFile = createRequire(import.meta.url).resolve('@countersign/judge/worker');

function startWorker(): Worker {
  const worker = new Worker(workerFile, { resourceLimits: memory });
  worker.unref(); // it does not keep the service running
  return worker;
}

/** Rejects when the worker fails, or when the signal is aborted before the worker returns a result. */
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
    const aborted = () =>
      settled(() => reject(new Error('The worker exceeded its deadline or was aborted', { cause: signal.reason })));
    worker.on('message', answered).on('error', failed).on('exit', failed);
    signal.addEventListener('abort', aborted);
    worker.ref();
    worker.postMessage(work);
  });
}
