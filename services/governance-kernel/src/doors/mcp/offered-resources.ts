import type { Client, Resource, ResourceTemplateType } from '@modelcontextprotocol/client';
import { hasAtMost } from './bounded-messages.ts';

/** The resources and the resource templates of a server. */
export type Offered = { resources: readonly Resource[]; templates: readonly ResourceTemplateType[] };

/** The most JSON values in the lists of a server. */
export const listedValuesMax = 50_000;

/** Reads the resources of a server. Rejects for a list that is too long, and with the errors of the SDK. */
export async function listOffered(client: Client, timeout: number): Promise<Offered> {
  const options = { cacheMode: 'refresh', timeout } as const;
  const [{ resources }, { resourceTemplates: templates }] = await Promise.all([
    client.listResources(undefined, options),
    client.listResourceTemplates(undefined, options),
  ]);
  if (!hasAtMost(listedValuesMax, [resources, templates]))
    throw new Error('The MCP server lists more resources than can be relayed');
  return { resources, templates };
}
