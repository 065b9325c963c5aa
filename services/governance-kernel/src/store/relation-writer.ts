import type { WriteRelations } from '../relations/change-relations.ts';
import type { Transaction } from './database.ts';
import { deleteEntities, insertEntities, putEntities } from './entity-store.ts';
import { confirmSnapshot, findRelationHead, findSnapshot, lockRelations, recordSnapshot } from './relation-store.ts';
import { deleteTuples, hasTuple, insertTuples } from './tuple-store.ts';

/** Transactions that change one tenant's relations, one after the other. */
export function relationWriter(transaction: Transaction): WriteRelations {
  return (tenant, work) =>
    transaction(async (tx) => {
      await lockRelations(tx, tenant);
      return await work({
        standing: async () => {
          const head = await findRelationHead(tx, tenant);
          return head === null ? null : await findSnapshot(tx, tenant, head.version);
        },
        hasTuple: (tuple) => hasTuple(tx, tenant, tuple),
        insertTuples: (tuples) => insertTuples(tx, tenant, tuples),
        deleteTuples: (tuples) => deleteTuples(tx, tenant, tuples),
        insertEntities: (entities) => insertEntities(tx, tenant, entities),
        putEntities: (entities) => putEntities(tx, tenant, entities),
        deleteEntities: (entities) => deleteEntities(tx, tenant, entities),
        putModel: async ({ hash, text }) => {
          const model = { model_hash: hash, model: text };
          const where = { tenant_id: tenant };
          await tx.permissionModel.upsert({ where, create: { ...where, ...model }, update: model });
        },
        record: (snapshot, changes) => recordSnapshot(tx, tenant, { snapshot, changes }),
        confirm: (version, at) => confirmSnapshot(tx, tenant, { version, at }),
      });
    });
}
