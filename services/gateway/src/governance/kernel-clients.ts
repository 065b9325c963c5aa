import { createRawClient, type RawClient } from '@countersign/contracts';
import { kernelRoutes } from '@countersign/contracts/routes';
import type { Asserted, AssertionSigner } from '@countersign/service-kit';
import type { GovernanceConfig } from '../config.ts';

export type KernelClient = RawClient<typeof kernelRoutes>;

type KernelClients = {
  /** A client for a caller of a workspace. Each attempt carries a new assertion. */
  as(asserted: Asserted): KernelClient;
  /** A client that acts as the gateway itself, for settings, members and ends of access. */
  readonly sibling: KernelClient;
  /** A client for public routes, which sends no credential. */
  readonly anonymous: KernelClient;
};

type Ways = {
  signer: AssertionSigner;
  fetch: typeof fetch;
  repeatsForMs: number;
  /** The traceparent of the work that a call is part of. */
  traceparent: () => string | null;
};

/** Clients of the kernel, one per credential of the gateway. None has operator rights. */
export function createKernelClients(
  { url: baseUrl, serviceApiKey, timeoutMs }: GovernanceConfig,
  { signer, traceparent, ...ways }: Ways,
): KernelClients {
  const options = { baseUrl, timeoutMs, ...ways };
  const traced = (): Record<string, string> => {
    const trace = traceparent();
    return trace === null ? {} : { traceparent: trace };
  };
  const bearing = (bearer: () => string | Promise<string>) =>
    createRawClient(kernelRoutes, {
      ...options,
      headers: async () => ({ authorization: `Bearer ${await bearer()}`, ...traced() }),
    });
  return {
    as: (asserted) => bearing(() => signer.sign(asserted)),
    sibling: bearing(() => serviceApiKey),
    anonymous: createRawClient(kernelRoutes, options),
  };
}
