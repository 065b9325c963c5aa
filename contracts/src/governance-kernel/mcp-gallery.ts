import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';

/** A server with the limits of the official registry's schema 2025-12-11. */
const GalleryServer = z.strictObject({
  $schema: z.string(),
  name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().max(100),
  description: z.string().min(1).max(100),
  version: z.string(),
  remotes: z.array(z.strictObject({ type: z.literal('streamable-http'), url: z.string() })),
});

export const listGalleryServers = defineRoute({
  operation: 'list-gallery-servers',
  summary:
    'List the approved MCP servers of the tenant by name, in the format of registry protocol v0.1. Each entry ' +
    'points to the governed `/mcp`.',
  method: 'GET',
  path: '/v0.1/servers',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent' },
  door: 'mcp',
  assertedBy: ['agent'],
  query: z.strictObject({
    tenant_id: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(200).default(30),
    cursor: z.string().min(1).max(512).optional(),
    /** Return only servers whose name contains this text. */
    search: z.string().max(100).optional(),
    updated_since: z.iso.datetime().optional(),
    /**
     * Return only servers of this version. The default `latest` returns every server, since the gallery has one version
     * of each.
     */
    version: z.string().max(64).optional(),
    include_deleted: z.enum(['true', 'false']).optional(),
  }),
  reply: z.strictObject({
    servers: z.array(
      z.strictObject({
        server: GalleryServer,
        _meta: z.strictObject({
          'io.modelcontextprotocol.registry/official': z.strictObject({
            status: z.literal('active'),
            publishedAt: Instant,
            updatedAt: Instant,
            isLatest: z.literal(true),
          }),
        }),
      }),
    ),
    metadata: z.strictObject({ count: z.int(), nextCursor: z.string().optional() }),
  }),
});
