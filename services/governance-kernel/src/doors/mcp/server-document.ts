import { AppError } from '@countersign/contracts';
import type { ServerDocument } from '@countersign/contracts/governance-kernel';
import { ClientServers, fittingId } from './client-servers.ts';
import type { McpServerConfig } from './server-config.ts';
import { serverOfJson } from './server-json.ts';

/** The most servers in one document. */
const serversMax = 20;

/** The servers of a document, in any of its formats. Throws INVALID_REQUEST with the name of the member. */
export function readServerDocument(document: ServerDocument): McpServerConfig[] {
  const configs = Object.entries(entriesOf(document)).flatMap(([name, entry]) => parsed(name, entry));
  if (configs.length === 0) throw refused('servers', 'The document names no server');
  if (configs.length > serversMax) throw refused('servers', `The document names more than ${serversMax} servers`);
  return configs;
}

function entriesOf(document: ServerDocument): Record<string, unknown> {
  const { server_id: id, url, headers, command, args, env, mcpServers, servers, server_json: json } = document;
  const clients = mcpServers ?? servers;
  if (clients !== undefined) return clients;
  if (json !== undefined) {
    const { name, entry } = serverOfJson(json, { headers, env });
    return { [id ?? name]: entry };
  }
  if (url !== undefined) return { [id ?? named(hostOf(url))]: { url, ...(headers === undefined ? {} : { headers }) } };
  const input = { command, args, env };
  return {
    [id ?? named(command ?? '')]: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)),
  };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^(?:mcp|www|api)\./, '') : '';
}

function named(from: string): string {
  const name = fittingId(from);
  if (name === null) throw refused('server_id', 'The server has no name: send server_id');
  return name;
}

function parsed(name: string, entry: unknown): McpServerConfig[] {
  const read = ClientServers.safeParse({ [name]: entry });
  if (read.success) {
    if (read.data.some((config) => config.transport === 'stdio' && config.sandbox !== undefined))
      throw refused(
        `${name}.sandbox`,
        'A document cannot set the sandbox of a server. Add the server, then grant it a sandbox with POST /api/v1/sandbox/grants',
      );
    return read.data;
  }
  const problems = read.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
  throw refused(read.error.issues[0]?.path.map(String).join('.') ?? name, problems.join('; '));
}

function refused(param: string, message: string): AppError {
  return new AppError('INVALID_REQUEST', message, { param });
}
