import type { TenantId } from '@countersign/contracts';
import type { LogLevel } from './log-level.ts';
import type { Notice, Notices } from './notices.ts';
import type { ClientSession } from './session-tokens.ts';

/** The level of a session that set none. */
const levelDefault: LogLevel = 'info';
/** Sessions whose settings a kernel keeps. The oldest of the tenant with the most sessions is dropped first. */
const sessionsMax = 10_000;

/** Each subscription is watched at its server. */
export const subscriptionsMax = 32;
/** The addresses of all subscriptions of a session. They must fit into the id of an event. */
const addressBytesMax = 4_000;

/** A resource under the address that the client knows, and under the one of its server. */
type Subscription = { address: string; serverId: string; uri: string };
type Settings = { level: LogLevel; subscriptions: ReadonlyMap<string, Subscription> };
type Owner = Pick<ClientSession, 'tenant' | 'principal' | 'id'>;
type Change = Exclude<Notice, { kind: 'answer' }>;

/** The log level and the subscriptions of each session. Every kernel of a database keeps them in memory. */
export class SessionSettings {
  readonly #notices: Pick<Notices, 'listen' | 'send'>;
  readonly #kernel: string;
  /** The settings by tenant and by session. */
  readonly #settings = new Map<TenantId, Map<string, Settings>>();
  #count = 0;
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(notices: Pick<Notices, 'listen' | 'send'>, kernel: string) {
    this.#notices = notices;
    this.#kernel = kernel;
  }

  of(owner: Owner): Settings {
    return this.#find(owner) ?? { level: levelDefault, subscriptions: new Map() };
  }

  /** Applies to this kernel at once, and to the other kernels when the notice arrives. */
  async setLevel(owner: Owner, level: LogLevel): Promise<void> {
    await this.#change({ kind: 'level', ...namesOf(owner), from: this.#kernel, level });
  }

  /** Whether the session may have this subscription too. */
  hasRoomFor(owner: Owner, subscription: Subscription): boolean {
    const { subscriptions } = this.of(owner);
    const all = new Map(subscriptions).set(subscription.address, subscription);
    return all.size <= subscriptionsMax && Buffer.byteLength(JSON.stringify([...all.values()])) <= addressBytesMax;
  }

  async subscribe(owner: Owner, subscription: Subscription): Promise<void> {
    await this.#change({ kind: 'subscription', ...namesOf(owner), from: this.#kernel, subscription });
  }

  async unsubscribe(owner: Owner, address: string): Promise<void> {
    await this.#change({ kind: 'unsubscription', ...namesOf(owner), from: this.#kernel, address });
  }

  /** Sets what a client returned after a restart, unless the settings of the session are known. */
  async restore(owner: Owner, { level, subscriptions }: { level: LogLevel; subscriptions: readonly Subscription[] }) {
    if (this.#find(owner) !== undefined) return;
    await this.setLevel(owner, level);
    for (const subscription of subscriptions) await this.subscribe(owner, subscription);
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

  #find({ tenant, ...rest }: Owner): Settings | undefined {
    return this.#settings.get(tenant)?.get(keyOf({ tenant, ...rest }));
  }

  #apply(change: Change): void {
    const owner = { tenant: change.tenant, principal: change.principal, id: change.session };
    const key = keyOf(owner);
    const after = changed(this.of(owner), change);
    this.#drop(owner.tenant, key);
    if (this.#count >= sessionsMax) this.#dropOldest();
    const ofTenant = this.#settings.get(owner.tenant) ?? new Map<string, Settings>();
    this.#settings.set(owner.tenant, ofTenant.set(key, after));
    this.#count += 1;
    for (const watcher of this.#watchers.get(key) ?? []) watcher();
  }

  /** A tenant with very many sessions loses its own settings, and not those of other tenants. */
  #dropOldest(): void {
    let largest: [TenantId, Map<string, Settings>] | null = null;
    for (const entry of this.#settings) if (largest === null || entry[1].size > largest[1].size) largest = entry;
    const [oldest] = largest?.[1].keys() ?? [];
    if (largest !== null && oldest !== undefined) this.#drop(largest[0], oldest);
  }

  #drop(tenant: TenantId, key: string): void {
    const ofTenant = this.#settings.get(tenant);
    if (ofTenant?.delete(key) !== true) return;
    this.#count -= 1;
    if (ofTenant.size === 0) this.#settings.delete(tenant);
  }
}

function changed(before: Settings, change: Change): Settings {
  const subscriptions = new Map(before.subscriptions);
  switch (change.kind) {
    case 'level':
      return { ...before, level: change.level };
    case 'subscription':
      subscriptions.set(change.subscription.address, change.subscription);
      return { ...before, subscriptions };
    case 'unsubscription':
      subscriptions.delete(change.address);
      return { ...before, subscriptions };
  }
}

function namesOf({ tenant, principal, id: session }: Owner) {
  return { tenant, principal, session };
}

function keyOf({ tenant, principal, id }: Owner): string {
  return JSON.stringify([tenant, principal, id]);
}
