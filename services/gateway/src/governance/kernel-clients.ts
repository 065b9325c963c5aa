import { createRawClient, type RawClient } from '@countersign/contracts';
import { kernelRoutes } from '@countersign/contracts/routes';
import type { Asserted, AssertionSigner } from '@countersign/service-kit';
import type { GovernanceConfig } from '../config.ts';

export type KernelClient = RawClient<typeof kernelRoutes>;

type KernelClients = {
  /** A client for a caller of a workspace, who is asserted again with each attempt. */
  as(asserted: Asserted): KernelClient;
  /** For what the gateway itself sets. */
  readonly sibling: KernelClient;
  /** For the routes that are open to everybody: no credential leaves. */
  readonly anonymous: KernelClient;
};

type Ways = {
  signer: AssertionSigner;
  fetch: typeof fetch;
  repeatsForMs: number;
  /** The traceparent of the work that a call is part of. */
  traceparent: () => string | null;
};

/** The kernel, by each of the credentials that the gateway has for it. None of them is an operator's. */
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
