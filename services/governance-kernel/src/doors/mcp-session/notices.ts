import { PrincipalId, sha256Of, TenantId, type PlainJson } from '@countersign/contracts';
import { canonicalBytes, parsePlainObject } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { z } from 'zod';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import { Outcome } from './answer.ts';
import { LogLevel } from './log-level.ts';

/** Passes texts between the kernels of a database. Texts are lost while the connection is lost. */
export type Carrier = {
  /** Resolves when texts of other kernels arrive, or cannot arrive at the moment. */
  listen(): Promise<void>;
  send(text: string): Promise<void>;
};

const Owner = { tenant: TenantId, principal: PrincipalId, session: z.string() };
const AnswerNotice = z.strictObject({
  kind: z.literal('answer'),
  ...Owner,
  to: z.string(),
  question: z.string(),
  outcome: Outcome,
});
const Change = { ...Owner, from: z.string() };
const LevelNotice = z.strictObject({ kind: z.literal('level'), ...Change, level: LogLevel });
const SubscriptionNotice = z.strictObject({
  kind: z.literal('subscription'),
  ...Change,
  subscription: z.strictObject({ address: z.string(), serverId: z.string(), uri: z.string() }),
});
const UnsubscriptionNotice = z.strictObject({ kind: z.literal('unsubscription'), ...Change, address: z.string() });
const Notice = z.discriminatedUnion('kind', [AnswerNotice, LevelNotice, SubscriptionNotice, UnsubscriptionNotice]);
export type Notice = z.infer<typeof Notice>;

/** No tenant has this name, so no text of a tenant decrypts as a notice. */
const everyTenant = '*' as TenantId; // deliberately not a valid tenant ID
const place = {
  tenant: everyTenant,
  id: 'mcp-notice',
  argsHash: sha256Of(nodeProvider, canonicalBytes({ notice: 'mcp-session' })),
};

/** Encrypted notices of sessions. Other users of the database can neither read nor write them. */
export class Notices {
  readonly #carrier: Carrier;
  readonly #cipher: ArgsCipher;

  constructor(carrier: Carrier, cipher: ArgsCipher) {
    this.#carrier = carrier;
    this.#cipher = cipher;
  }

  listen(): Promise<void> {
    return this.#carrier.listen();
  }

  async send(notice: Notice): Promise<void> {
    const content: Record<string, PlainJson> = parsePlainObject(notice);
    await this.#carrier.send(this.#cipher.encrypt(place, content));
  }

  /** `null` for a text that no kernel with this secret wrote. */
  open(text: string): Notice | null {
    return Notice.safeParse(this.#cipher.decrypt(place, text)).data ?? null;
  }
}
