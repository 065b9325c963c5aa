import { z } from 'zod';
import type { Notice, Notices } from './notices.ts';
import type { ClientSession } from './session-tokens.ts';

/** The log levels of the protocol, from the lowest to the highest. */
export const LogLevel = z.enum(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
export type LogLevel = z.infer<typeof LogLevel>;

/** The level of a session that set none. */
const levelDefault = 'info';
/** Sessions whose settings a kernel keeps. The oldest are dropped, and have no settings then. */
const sessionsMax = 10_000;

type Settings = { level: LogLevel; subscriptions: ReadonlySet<string> };
type Owner = Pick<ClientSession, 'tenant' | 'principal' | 'id'>;
type Change = Extract<Notice, { kind: 'level' | 'subscription' }>;

/** The log level and the subscriptions of each session. Every kernel of a database keeps them in memory. */
export class SessionSettings {
  readonly #notices: Pick<Notices, 'listen' | 'send'>;
  readonly #kernel: string;
  readonly #settings = new Map<string, Settings>();
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(notices: Pick<Notices, 'listen' | 'send'>, kernel: string) {
    this.#notices = notices;
    this.#kernel = kernel;
  }

  of(owner: Owner): Settings {
    return this.#settings.get(keyOf(owner)) ?? { level: levelDefault, subscriptions: new Set() };
  }

  /** Applies to this kernel at once, and to the other kernels when the notice arrives. */
  async setLevel(owner: Owner, level: LogLevel): Promise<void> {
    await this.#change({ kind: 'level', ...namesOf(owner), from: this.#kernel, level });
  }

  async setSubscription(owner: Owner, { address, isActive }: { address: string; isActive: boolean }): Promise<void> {
    await this.#change({ kind: 'subscription', ...namesOf(owner), from: this.#kernel, address, isActive });
  }

  /** Applies a change that another kernel received. */
  receive(change: Change): void {
    if (change.from !== this.#kernel) this.#apply(change);
  }

  /** Calls `changed` after each change of these settings. Returns the function that ends this. */
  watch(owner: Owner, changed: () => void): () => void {
    const key = keyOf(owner);
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(key);
    };
  }

  async #change(change: Change): Promise<void> {
    await this.#notices.listen();
    this.#apply(change);
    await this.#notices.send(change);
  }

  #apply(change: Change): void {
    const key = keyOf({ tenant: change.tenant, principal: change.principal, id: change.session });
    const before = this.#settings.get(key) ?? { level: levelDefault, subscriptions: new Set<string>() };
    const after = changed(before, change);
    this.#settings.delete(key);
    const [oldest] = this.#settings.keys();
    if (this.#settings.size >= sessionsMax && oldest !== undefined) this.#settings.delete(oldest);
    this.#settings.set(key, after);
    for (const watcher of this.#watchers.get(key) ?? []) watcher();
  }
}

function changed(before: Settings, change: Change): Settings {
  if (change.kind === 'level') {
    const level = LogLevel.safeParse(change.level).data;
    return level === undefined ? before : { ...before, level };
  }
  const subscriptions = new Set(before.subscriptions);
  if (change.isActive) subscriptions.add(change.address);
  else subscriptions.delete(change.address);
  return { ...before, subscriptions };
}

function namesOf({ tenant, principal, id: session }: Owner) {
  return { tenant, principal, session };
}

function keyOf({ tenant, principal, id }: Owner): string {
  return JSON.stringify([tenant, principal, id]);
}
