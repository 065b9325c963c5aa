import type { PlainJson } from '@countersign/contracts';
import type { BoundaryRecord, HostEvent } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';

/** A destination of a call. `port` is `null` when none is stated, and then any port matches. */
export type NamedDestination = { host: string; port: number | null };

/** Finds sealed registrations and grants of the tenant, since a record contains only their ids and hashes. */
export type SealedNames = {
  /** The address of a server at the time of the decision. `null` when it has none, or none was sealed. */
  addressOf(serverId: string, atMs: number): string | null;
  /** The network of a sandbox grant, as `host:port`. */
  networkOf(grantHash: string): readonly string[];
};

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80, 'https:': 443, 'wss:': 443 };

/**
 * The destinations of a sealed decision. They are the resource of a `data.egress`, and addresses in the resource and
 * in the arguments that its policy read. They are also the address of its MCP server and the network of its sandbox
 * grant. A decision without a destination covers no traffic.
 */
export function destinationsOf(record: BoundaryRecord, sealed: SealedNames): NamedDestination[] {
  const { intent, mcp_server_id: server, sandbox_grant_hash: grant } = record;
  const named = [
    ...(intent.action === 'data.egress' && intent.resource !== null ? [hostOrUrl(intent.resource)] : []),
    ...(intent.resource === null ? [] : [ofUrl(intent.resource)]),
    ...Object.entries(intent.facts).flatMap(([path, value]) => (path.startsWith('args.') ? urlsIn(value) : [])),
    ...(server === null ? [] : [ofUrl(sealed.addressOf(server, Date.parse(record.created_at)) ?? '')]),
    ...(grant === null ? [] : sealed.networkOf(grant).map(hostOrUrl)),
  ].filter((destination) => destination !== null);
  return [...new Map(named.map((destination) => [destinationText(destination), destination])).values()];
}

export function destinationText({ host, port }: NamedDestination): string {
  const shown = host.includes(':') ? `[${host}]` : host;
  return port === null ? shown : `${shown}:${port}`;
}

type Event = Pick<z.infer<typeof HostEvent>, 'destination_host' | 'destination_ip' | 'destination_port'>;

/** Compares only what the recorder states. A DNS query would return today's addresses. */
export function goesTo(event: Event, { host, port }: NamedDestination): boolean {
  if (port !== null && port !== event.destination_port) return false;
  return (
    host === event.destination_host ||
    (event.destination_ip !== undefined && host === canonicalHost(event.destination_ip))
  );
}

export function eventDestination({
  destination_host: host,
  destination_ip: ip,
  destination_port: port,
}: Event): string {
  return destinationText({ host: host ?? canonicalHost(ip ?? ''), port });
}

/** One canonical text for all spellings of an address. */
function canonicalHost(host: string): string {
  const url = `http://${host.includes(':') ? `[${host}]` : host}`;
  return URL.canParse(url) ? plainHost(new URL(url).hostname) : host;
}

function plainHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function hostOrUrl(text: string): NamedDestination | null {
  const deps = /^(?<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::(?<port>[0-9]{1,5}))?$/i.exec(text)?.groups;
  const host = deps?.['host'];
  if (host === undefined) return ofUrl(text);
  const port = deps?.['port'];
  return { host: canonicalHost(host.replace(/^\[|\]$/g, '')), port: port === undefined ? null : Number(port) };
}

function ofUrl(text: string): NamedDestination | null {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { hostname, port, protocol } = new URL(text);
  if (hostname === '') return null;
  return {
    host: plainHost(hostname.toLowerCase()),
    port: port === '' ? (defaultPorts[protocol] ?? null) : Number(port),
  };
}

/** Collects values that are addresses, also in lists. A text in which an address is only a part does not count. */
function urlsIn(value: PlainJson): (NamedDestination | null)[] {
  if (typeof value === 'string') return [ofUrl(value)];
  return Array.isArray(value) ? value.flatMap((item) => (typeof item === 'string' ? [ofUrl(item)] : [])) : [];
}
