import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CryptoProvider } from '@countersign/crypto';
import type { AnyControl } from '../../ledger/control.ts';
import { unavailable } from '../../ledger/group-commit.ts';
import { acquireFileLock, LockBusy } from './file-lock.ts';
import { DamagedRegistry, emptyState, parseRegistry, registryText, type RegistryState } from './registry-state.ts';
import { replaceFile, type ReplaceStep } from './replace-file.ts';

/** The steps of a change, in this order. */
export type ChangeStep = 'locked' | 'read' | ReplaceStep;

type RegistryFileDeps = {
  path: string;
  provider: CryptoProvider;
  controls: readonly AnyControl[];
  lockWaitMs?: number;
  /** Called after each step. Tests kill the process here. */
  onStep?: (step: ChangeStep) => void;
};

/** Long enough to wait for several other writers. A busy machine writes the largest file in well under a second. */
const defaultLockWaitMs = 10_000;

/** The limit of the file. Each change writes the whole file, so a larger file would slow each decision. */
const registryBytesMax = 64 * 1024 * 1024;

type Cached = { version: string; state: RegistryState };

/**
 * The registry file. Each change replaces the whole file under a lock between processes, so the file contains the old
 * state or the new one. Rejects with RECEIPT_STORE_UNAVAILABLE when the file is damaged, locked or not writable.
 */
export class RegistryFile {
  readonly path: string;
  readonly #deps: RegistryFileDeps;
  #cached: Cached | null = null;

  constructor(deps: RegistryFileDeps) {
    this.path = resolve(deps.path);
    this.#deps = deps;
  }

  /** The last committed state. A missing file is an empty state. */
  async read(): Promise<RegistryState> {
    return await this.#stated(() => this.#load());
  }

  /**
   * Reads, changes and replaces the file under the lock. The file is unchanged when `change` throws, or returns no
   * state.
   */
  async change<Result>(
    change: (state: RegistryState) => { state: RegistryState | null; result: Result },
  ): Promise<Result> {
    return await this.#stated(async () => {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      const release = await acquireFileLock(`${this.path}.lock`, {
        waitMs: this.#deps.lockWaitMs ?? defaultLockWaitMs,
      });
      try {
        this.#step('locked');
        const before = await this.#load();
        this.#step('read');
        const { state, result } = change(before);
        if (state !== null) await this.#replace(state);
        return result;
      } finally {
        await release();
      }
    });
  }

  /** The file is always replaced and never written in place, so a different inode or time means a different state. */
  async #load(): Promise<RegistryState> {
    const version = await versionOf(this.path);
    if (version === null) return emptyState();
    if (this.#cached?.version === version) return this.#cached.state;
    const { provider, controls } = this.#deps;
    const state = parseRegistry(provider, controls, await readFile(this.path, 'utf8'));
    this.#cached = { version, state };
    return state;
  }

  async #replace(state: RegistryState): Promise<void> {
    const text = registryText(state);
    if (Buffer.byteLength(text) > registryBytesMax)
      throw new Error(
        `The registry file would exceed ${registryBytesMax} bytes. Export its evidence and begin another file, or run a kernel with a database.`,
      );
    await replaceFile(this.path, text, (step) => this.#step(step));
    const version = await versionOf(this.path);
    this.#cached = version === null ? null : { version, state };
  }

  #step(step: ChangeStep): void {
    this.#deps.onStep?.(step);
  }

  async #stated<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DamagedRegistry)
        throw unavailableFile(
          `The registry file ${this.path} is damaged at ${error.message}. It was not changed. Restore it from a backup, or name another file.`,
          error,
        );
      if (error instanceof LockBusy) throw unavailableFile(error.message, error);
      throw isSystemError(error) ? unavailable(error) : error;
    }
  }
}

function unavailableFile(message: string, cause: unknown) {
  const error = unavailable(cause);
  error.message = message;
  return error;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** `null` when there is no file. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, mtimeNs, ctimeNs, size } = await stat(path, { bigint: true });
    return [dev, ino, mtimeNs, ctimeNs, size].join(' ');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
