import type { listGalleryServers, McpServer } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';

type GalleryItem = z.infer<typeof listGalleryServers.reply>['servers'][number];

/**
 * An approved server in the form of the registry protocol. Its address is `/mcp`, so each call of a client that
 * installs it is decided.
 */
export function galleryView(server: McpServer, publicUrl: string): GalleryItem {
  const { server_id: id, approved_at: approvedAt, created_at: createdAt, updated_at: updatedAt } = server;
  return {
    server: {
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: `${reversedHost(publicUrl)}/${id}`,
      title: id,
      description: `The tools of ${id}, decided and recorded by Countersign`,
      version: versionOf(approvedAt ?? createdAt),
      remotes: [{ type: 'streamable-http', url: `${publicUrl.replace(/\/+$/, '')}/mcp` }],
    },
    _meta: {
      'io.modelcontextprotocol.registry/official': {
        ...{ status: 'active', publishedAt: createdAt, updatedAt, isLatest: true },
      },
    },
  };
}

/** Each approval is a version: `1.0.20261128221500`. */
function versionOf(approvedAt: string): string {
  return `1.0.${approvedAt.replaceAll(/\D/g, '').slice(0, 14)}`;
}

function reversedHost(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return /^[a-z0-9.-]+\.[a-z][a-z0-9-]*$/i.test(hostname)
    ? hostname.split('.').toReversed().join('.')
    : 'local.countersign';
}
