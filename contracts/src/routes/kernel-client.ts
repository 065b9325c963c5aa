import { createClient, createRawClient, type Client, type RawClient } from '../client.ts';
import type { ClientOptions } from '../call.ts';
import { kernelRoutes } from './service-routes.ts';

/** On whose behalf a call is made. Without a principal it is the operator's own. */
type Speaker = { tenant: string; principal?: string };

type KernelClientOptions = Omit<ClientOptions, 'headers'> & { apiKey: string };

export type KernelClient = {
  as(speaker: Speaker): Client<typeof kernelRoutes>;
  /** For callers that act on refusals. */
  rawAs(speaker: Speaker): RawClient<typeof kernelRoutes>;
};

/** Headers are sent byte by byte, and names in them are UTF-8. */
function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** The kernel as an operator's key opens it, for each speaker that the key's holder names. */
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
