import { lookup } from 'node:dns';
import type { Digest } from '@countersign/contracts';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { EgressProxy, type EgressAccount } from './egress-proxy.ts';

/** The sandbox of a server over stdio. */
export type ServerSandbox = {
  terms: SandboxTerms;
  /** The hash of its grant. */
  hash: Digest;
  egress: EgressAccount;
};

type Place = {
  /** `null`: the server runs beside the kernel, or elsewhere. */
  sandbox: ServerSandbox | null;
  scratchDir: string;
  /** Private addresses are no destinations without it. */
  reachesPrivate: boolean;
};

/** The way out of a server's sandbox: one proxy for all its starts, or none. */
export class ServerEgress {
  readonly #place: Place;
  #proxy: Promise<EgressProxy> | null = null;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The path of the proxy's socket. `null` when the grant of the server names no destinations. */
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
