import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { repeat, type Repeated } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { askWitness, type Witness, type WitnessAnswer } from '../evidence/proof/ask-witness.ts';
import { provenConsistent } from '../evidence/proof/log-proofs.ts';
import { createLogReader } from '../evidence/proof/log-reader.ts';
import { WitnessContradicts } from '../evidence/proof/witness-contradictions.ts';
import { textHashOf } from '../store/with-cosignatures.ts';
import { findCheckpointAbove, findLatestCheckpoint } from '../store/checkpoint-store.ts';
import { findLastCosigned, recordCosignature } from '../store/cosignature-store.ts';
import { logSource } from '../store/log-source.ts';

type Deps = Pick<
  Context,
  'reader' | 'transaction' | 'provider' | 'clock' | 'clockGuard' | 'log' | 'witnessContradictions'
>;

const lookEveryMs = 1_000;
/** A pass yields after this many checkpoints. */
const checkpointsMax = 32;
const otherHistory = 'The witness cosigned a different history of this log: receipts were lost and their places taken';
const [waitMsMin, waitMsMax] = [1_000, 300_000];

/**
 * Submits each new checkpoint to one witness, smallest tree first. All state is in the tables, so a killed kernel
 * continues after a restart. After a failure, the witness gets only the newest checkpoint, which covers all earlier
 * ones. No decision waits for a witness.
 *
 * The first pass submits the newest checkpoint even if it is already cosigned. A witness thus notices, before the log
 * grows, that the log was restored from a backup.
 */
export function startWitnessing(deps: Deps, witness: Witness): Repeated {
  const { clock, clockGuard, log, witnessContradictions } = deps;
  const controller = new AbortController();
  const name = `${witness.key.name}+${witness.key.keyId}`;
  let failures = 0;
  let waitsUntilMs = 0;
  let isFirst = true;
  const run = async () => {
    if (clock().getTime() < waitsUntilMs) return;
    try {
      for (let requestCount = 0; requestCount < checkpointsMax; requestCount += 1) {
        const isDone = await witnessNext(deps, {
          witness,
          name,
          isRecovering: failures > 0,
          isFirst,
          signal: controller.signal,
        });
        failures = 0;
        isFirst = false;
        witnessContradictions.clear(name);
        if (isDone) return;
      }
    } catch (error) {
      if (controller.signal.aborted) return;
      waitsUntilMs = clock().getTime() + Math.min(waitMsMax, waitMsMin * 2 ** failures);
      failures += 1;
      if (!(error instanceof WitnessContradicts))
        return void log.warn('witness.failed', { witness: witness.key.name, failures, error });
      witnessContradictions.set(name, error.message);
      log.error('witness.contradicts', { witness: witness.key.name, failures, error });
    }
  };
  const onFailure = (error: unknown) => log.warn('witness.failed', { witness: witness.key.name, error });
  const { check, close } = repeat({ run, intervalMs: lookEveryMs, clockGuard, onFailure });
  return {
    check,
    close: () => {
      controller.abort();
      return close();
    },
  };
}

type Next = { witness: Witness; name: string; isRecovering: boolean; isFirst: boolean; signal: AbortSignal };

/** Resolves to whether all checkpoints are cosigned. Rejects when the witness returned no cosignature. */
async function witnessNext(deps: Deps, { witness, name, isRecovering, isFirst, signal }: Next): Promise<boolean> {
  const { reader, transaction, provider } = deps;
  const last = await findLastCosigned(reader, name);
  // A new witness begins with the newest checkpoint, since it did not see earlier checkpoints when they were new.
  const isFromNewest = last === null || isRecovering;
  const above = isFromNewest ? null : await findCheckpointAbove(reader, last);
  const next = above ?? (isFromNewest || isFirst ? await findLatestCheckpoint(reader) : null);
  if (next === null) return true;
  const submit = (old: number) => submitTo(deps, witness, { checkpoint: next, old, signal });
  let answer = await submit(Math.min(last ?? 0, next.tree_size));
  // The witness reports a larger size if its last answer was lost, or if another replica called it.
  if (answer.kind === 'size' && answer.size <= next.tree_size) answer = await submit(answer.size);
  if (answer.kind === 'size') throw await problemOf(deps, answer.size, next);
  if (answer.kind === 'inconsistent') throw new WitnessContradicts(otherHistory);
  if (answer.kind === 'refused') throw new Error(`The witness gave no cosignature: ${answer.problem}`);
  const { line, signedAt } = answer;
  const textHash = textHashOf(provider, next.note);
  await recordCosignature(transaction, { witness: name, size: next.tree_size, textHash, line, signedAt });
  return false;
}

/** Why a witness that cosigned `seen` leaves refuses this checkpoint. */
async function problemOf({ reader }: Deps, seen: number, { tree_size: size }: Checkpoint): Promise<Error> {
  // Witnesses of earlier versions of the standard give this answer for a different tree of the same size.
  if (seen === size) return new WitnessContradicts(otherHistory);
  const latest = Math.max((await findLatestCheckpoint(reader))?.tree_size ?? 0, size);
  if (seen <= latest) return new Error('The witness cosigned a later checkpoint, which another replica submitted');
  return new WitnessContradicts(
    `The witness cosigned ${seen} leaves, and the newest checkpoint of this log has ${latest}: receipts are lost`,
  );
}

async function submitTo(
  { reader, provider }: Deps,
  witness: Witness,
  {
    checkpoint: { tree_size: to, note },
    old: from,
    signal,
  }: { checkpoint: Checkpoint; old: number; signal: AbortSignal },
): Promise<WitnessAnswer> {
  const nodes = createLogReader(provider, logSource(reader));
  const isProven = from === 0 || from === to;
  const proof = isProven ? [] : await provenConsistent(provider, nodes, { from, to });
  return askWitness(witness, { note, old: from, proof }, { provider, signal });
}
