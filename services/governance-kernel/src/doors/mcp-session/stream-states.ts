import { sha256Of } from '@countersign/contracts';
import { canonicalBytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { z } from 'zod';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import type { ClientSession } from './session-tokens.ts';
import { LogLevel } from './log-level.ts';
import { subscriptionsMax } from './settings.ts';

/** A header of Node has at most 16 kB. Addresses have at most 4,000 bytes together. */
const stateLengthMax = 12_000;

type Owner = Pick<ClientSession, 'tenant' | 'principal' | 'id'>;

const Lists = z.strictObject({ tools: z.string(), prompts: z.string(), resources: z.string() });
const State = z.strictObject({
  level: LogLevel,
  subscriptions: z
    .array(z.strictObject({ address: z.string(), serverId: z.string(), uri: z.string() }))
    .max(subscriptionsMax),
  lists: Lists,
});
/** The digests of the lists that a client sees. */
export type Lists = z.infer<typeof Lists>;
export type StreamState = z.infer<typeof State>;

/**
 * The ids of events on a stream. A client returns the last id as `Last-Event-ID`, and the settings of its session
 * survive a restart of the kernel.
 */
export class StreamStates {
  readonly #cipher: ArgsCipher;

  constructor(cipher: ArgsCipher) {
    this.#cipher = cipher;
  }

  seal(owner: Owner, state: StreamState): string {
    return Buffer.from(this.#cipher.encrypt(placeOf(owner), state), 'base64').toString('base64url');
  }

  /** `null` for an id that was not sealed for this session. */
  open(owner: Owner, id: string): StreamState | null {
    if (id.length > stateLengthMax) return null;
    return State.safeParse(this.#cipher.decrypt(placeOf(owner), id)).data ?? null;
  }
}

function placeOf({ tenant, principal, id: session }: Owner) {
  return { tenant, id: 'mcp-stream', argsHash: sha256Of(nodeProvider, canonicalBytes({ principal, session })) };
}
