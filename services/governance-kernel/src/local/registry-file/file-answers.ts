import { answersKeptMs } from '@countersign/idempotency';
import type { IdempotencyStore } from '@countersign/service-kit';
import type { RegistryFile } from './registry-file.ts';
import type { KeyAnswer, RegistryState } from './registry-state.ts';

/** A request that runs for longer than this belongs to a killed process, so its key is free again. */
const runningMsMax = 60_000;

/** Answers by Idempotency-Key in the registry file, so that a later process can answer a repeated request. */
export function fileAnswers(file: RegistryFile, clock: () => Date): IdempotencyStore {
  const change = async (scope: string, key: string, next: (current: KeyAnswer | null) => KeyAnswer | null) =>
    file.change((state) => {
      const answers = kept(state, clock().getTime());
      const current = answers.find((one) => one.scope === scope && one.key === key) ?? null;
      const after = next(current);
      const others = answers.filter((one) => one !== current);
      return { state: { ...state, answers: after === null ? others : [...others, after] }, result: current };
    });
  return {
    begin: async (scope, key, fingerprint) => {
      const at = clock().toISOString();
      const current = await change(scope, key, (stored) => stored ?? { scope, key, fingerprint, at, answer: null });
      if (current === null) return { kind: 'run' };
      if (current.fingerprint !== fingerprint) return { kind: 'mismatch' };
      return current.answer === null ? { kind: 'in-flight' } : { kind: 'replay', answer: current.answer };
    },
    complete: async (scope, key, { status, headers, text }) => {
      await change(scope, key, (stored) => stored && { ...stored, answer: { status, headers: { ...headers }, text } });
    },
    abandon: async (scope, key) => {
      await change(scope, key, () => null);
    },
  };
}

function kept({ answers }: RegistryState, nowMs: number): KeyAnswer[] {
  return answers.filter(({ at, answer }) => nowMs - Date.parse(at) < (answer === null ? runningMsMax : answersKeptMs));
}
