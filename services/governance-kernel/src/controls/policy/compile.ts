import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { canonicalize, definedMembers, type CryptoProvider } from '@countersign/crypto';
import { compileInTurns, PolicyError, type CompiledPolicy } from '@countersign/policy';
import { storedBundle } from './stored-bundle.ts';

const turns = { nextTurn: () => nextTurn(), monotonicMs: () => performance.now() };

/**
 * Compiles a bundle, and regularly yields to other tasks. Throws INVALID_REQUEST for a bundle that does not compile or
 * fails its own tests.
 */
export async function compileBundle(
  provider: CryptoProvider,
  bundle: PolicyBundle,
  within: 'bundle.' | '' = 'bundle.',
): Promise<CompiledPolicy> {
  try {
    return await compileInTurns(bundle, provider, turns);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new AppError('INVALID_REQUEST', error.message, {
      param: `${within}${error.path.slice(1).replaceAll('/', '.')}`.replace(/\.$/, ''),
      details: { code: error.code },
      cause: error,
    });
  }
}

const unreadable: PolicyBundle = {
  format: 'countersign/policy.v1',
  name: 'unreadable',
  version: '0',
  rules: [],
  tests: [],
};

/**
 * Compiles a stored bundle. A damaged text becomes a bundle without rules. Its hash differs from the stored hash, so
 * the policy gate denies calls, with receipts.
 */
export async function compileText(provider: CryptoProvider, text: string): Promise<CompiledPolicy> {
  try {
    return await compileInTurns(storedBundle(text), provider, turns);
  } catch {
    return await compileInTurns(unreadable, provider, turns);
  }
}

/** The text under which a bundle is stored. */
export function textOf(bundle: PolicyBundle): string {
  return canonicalize(definedMembers(bundle));
}
