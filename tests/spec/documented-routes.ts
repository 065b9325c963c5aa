import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../architecture/repository.ts';

const DocumentedRoute = z.strictObject({
  service: z.enum(['gateway', 'governance-kernel', 'control-plane', 'commercial-gateway']),
  method: z.string(),
  path: z.string(),
  /** `session_reauth` is a session whose person has proven their presence in the last minutes. */
  auth: z.string(),
  family: z.string(),
});
export type DocumentedRoute = z.infer<typeof DocumentedRoute>;

/**
 * Every route of the published interface documents. Four routes have a stricter class here than in their document.
 * Resolving an approval needs a partner. An invitation, a trial and a billing budget always need a new proof of
 * presence.
 */
export const documentedRoutes: readonly DocumentedRoute[] = readRows();

/** Families without any route yet, as `service family`. */
export const unbuiltFamilies: ReadonlySet<string> = new Set([
  'control-plane channels',
  'control-plane skills',
  'control-plane knowledge',
  'control-plane evidence',
  'control-plane legal',
  'control-plane org',
]);

/** Missing routes of families that exist, as `method path`. */
export const unbuiltRoutes: ReadonlySet<string> = new Set([
  'GET /.well-known/agent-card.json',
  'DELETE /api/workspaces/{workspace_id}',
  'GET /api/public/evidence/{bundleId}',
  'GET /api/public/orgs/{org_id}/status',
  'GET /api/public/orgs/{org_id}/checkpoints',
  'GET /api/audit/packs',
  'POST /api/audit/packs',
  'GET /api/audit/packs/{pack_id}/export',
  'POST /api/audit/verify',
]);

function readRows(): DocumentedRoute[] {
  const [, ...lines] = readFileSync(join(root, 'tests/spec/documented-routes.tsv'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [service, method, path, auth, family] = line.split('\t');
    return DocumentedRoute.parse({ service, method, path, auth, family });
  });
}
