import * as kernel from '@countersign/contracts/governance-kernel';
import type { Ask } from './_ask.ts';

export async function askRelations(ask: Ask, headers: Record<string, string>): Promise<void> {
  const viewer = { object: 'document:42', relation: 'viewer', subject: 'user:ann' };
  const changes = {
    tenant_id: 'acme',
    writes: [viewer],
    entities: [{ entity: 'document:42', properties: { open: true } }],
  };
  const { snapshot_id } = await ask(kernel.writeRelationships, { body: changes, headers });
  const model = { types: { document: { permissions: { read: 'relations.viewer' } } } };
  await ask(kernel.putPermissionModel, { params: { tenant: 'acme' }, body: model, headers });
  await ask(kernel.checkRelation, { body: viewer });
  const access = {
    subject: { type: 'user', id: 'ann' },
    action: { name: 'read' },
    resource: { type: 'document', id: '42' },
  };
  for (const route of [kernel.evaluateAccess, kernel.searchSubjects, kernel.searchResources, kernel.searchActions])
    await ask(route, { body: access });
  await ask(kernel.evaluateAccesses, { body: { ...access, evaluations: [{}] } });
  await ask(kernel.getAuthzenConfiguration);
  await ask(kernel.getAuthzHealth);
  await ask(kernel.listRelationSnapshots);
  await ask(kernel.getRelationSnapshot, { params: { snapshot_id: String(snapshot_id) } });
}
