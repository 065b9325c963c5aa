import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/client';
import type { Offered } from './offered-resources.ts';

export type OfferedBy = { serverId: string } & Offered;

/** `files+file:///notes.txt` is the resource of one server, for addresses that several servers offer. */
const withServer = /^([a-z0-9_-]+)\+(.+)$/s;

/**
 * Maps the resources of servers to addresses that identify one server each. An address is unchanged if only one server
 * offers it and it does not begin with a server's name and `+`.
 */
export function publishedUris(offers: readonly OfferedBy[]): {
  resources: Resource[];
  templates: ResourceTemplateType[];
} {
  const count = new Map<string, number>();
  for (const { resources, templates } of offers) {
    const own = new Set([...resources.map(({ uri }) => uri), ...templates.map(({ uriTemplate }) => uriTemplate)]);
    for (const address of own) count.set(address, (count.get(address) ?? 0) + 1);
  }
  const isServer = (id: string | undefined) => offers.some(({ serverId }) => serverId === id);
  const published = (serverId: string, address: string) =>
    count.get(address) === 1 && !isServer(withServer.exec(address)?.[1]) ? address : `${serverId}+${address}`;
  return {
    resources: offers.flatMap(({ serverId, resources }) =>
      resources.map((resource) => ({ ...resource, uri: published(serverId, resource.uri) })),
    ),
    templates: offers.flatMap(({ serverId, templates }) =>
      templates.map((template) => ({ ...template, uriTemplate: published(serverId, template.uriTemplate) })),
    ),
  };
}

type Located = { serverId: string; uri: string } | { problem: string };

/**
 * The one server of a resource. If there is only one server, it gets every address, since a server may read more than
 * it lists.
 */
export function serverOfUri(uri: string, offers: readonly OfferedBy[]): Located {
  const [, named, own = ''] = withServer.exec(uri) ?? [];
  if (named !== undefined && offers.some(({ serverId }) => serverId === named)) return { serverId: named, uri: own };
  const listing = offers.filter((offer) => offersUri(offer, uri));
  const possible = listing.length === 0 ? offers : listing;
  const [only, ...others] = possible;
  if (only === undefined) return { problem: 'Resource not found' };
  if (others.length === 0) return { serverId: only.serverId, uri };
  const names = possible.map(({ serverId }) => `${serverId}+${uri}`).join(', ');
  return { problem: `Resource not found: name its server, as in ${names.slice(0, 500)}` };
}

/** Compares a template by the text around its variables, since a pattern built from it could run without end. */
function offersUri({ resources, templates }: OfferedBy, uri: string): boolean {
  if (resources.some((resource) => resource.uri === uri)) return true;
  return templates.some(({ uriTemplate: template }) => {
    const [head = '', tail = ''] = [template.split('{', 1)[0], template.slice(template.lastIndexOf('}') + 1)];
    return template === uri || (uri.length > head.length + tail.length && uri.startsWith(head) && uri.endsWith(tail));
  });
}
