import { createClient, createRawClient, type Client, type RawClient } from '../client.ts';
import type { ClientOptions } from '../call.ts';
import { kernelRoutes } from './service-routes.ts';

/** The tenant and the principal of a call. Without a principal, the call is the operator's own. */
type Speaker = { tenant: string; principal?: string };

type KernelClientOptions = Omit<ClientOptions, 'headers'> & { apiKey: string };

export type KernelClient = {
  as(speaker: Speaker): Client<typeof kernelRoutes>;
  /** For callers that handle refusals. */
  rawAs(speaker: Speaker): RawClient<typeof kernelRoutes>;
};

/** Encodes text for a header as UTF-8 bytes. */
function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** A client of the kernel with an operator key, for each tenant and principal that the caller names. */
export function createKernelClient({ apiKey, ...options }: KernelClientOptions): KernelClient {
  const spokenBy = ({ tenant, principal }: Speaker): ClientOptions => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'x-gov-tenant-id': tenant,
      ...(principal === undefined ? {} : { 'x-gov-principal-id': utf8(principal) }),
    };
    return { ...options, headers: () => headers };
  };
  return {
    as: (speaker) => createClient(kernelRoutes, spokenBy(speaker)),
    rawAs: (speaker) => createRawClient(kernelRoutes, spokenBy(speaker)),
  };
}
