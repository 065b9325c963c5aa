import { lookup } from 'node:dns';
import type { Digest } from '@countersign/contracts';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { EgressProxy, type EgressAccount } from './egress-proxy.ts';

/** The sandbox of a server over stdio. */
export type ServerSandbox = {
  terms: SandboxTerms;
  /** The hash of the grant. */
  hash: Digest;
  egress: EgressAccount;
};

type Place = {
  /** `null` when the server runs outside a sandbox, or remotely. */
  sandbox: ServerSandbox | null;
  scratchDir: string;
  /** Whether the server may reach private addresses. */
  reachesPrivate: boolean;
};

/** The network access of a server's sandbox: one proxy, which is reused when the server restarts. */
export class ServerEgress {
  readonly #place: Place;
  #proxy: Promise<EgressProxy> | null = null;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The path of the proxy's socket. `null` without bubblewrap, or when the grant names no destinations. */
  async open(): Promise<string | null> {
    const { sandbox, scratchDir, reachesPrivate } = this.#place;
    if (sandbox === null || sandbox.terms.profile !== 'bubblewrap' || sandbox.terms.network.length === 0) return null;
    this.#proxy ??= EgressProxy.open({
      ...{ destinations: sandbox.terms.network, socketDir: scratchDir, account: sandbox.egress },
      ...(reachesPrivate ? { lookup } : {}),
    });
    return (await this.#proxy).path;
  }

  async close(): Promise<void> {
    await (await this.#proxy?.catch(() => null))?.close();
  }
}
