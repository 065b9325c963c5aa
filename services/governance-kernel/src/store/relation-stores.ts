import { Relations } from '../relations/relation-source.ts';
import type { Reader, Transaction } from './database.ts';
import { listEntities, listProperties } from './entity-store.ts';
import { findRelationHead } from './relation-store.ts';
import { relationWriter } from './relation-writer.ts';
import { loadTuples } from './tuple-store.ts';

/** The tables behind what is asked about relations. */
export function relationsIn(reader: Reader): Relations {
  return new Relations({
    findHead: (tenant) => findRelationHead(reader, tenant),
    loadTuples: (tenant, sought) => loadTuples(reader, tenant, sought),
  });
}

/** Those behind their changes, and behind permissions beside relations. */
export function relationStores({ reader, transaction }: { reader: Reader; transaction: Transaction }) {
  return { writeRelations: relationWriter(transaction), permissions: permissionsIn(reader) };
}

function permissionsIn(reader: Reader) {
  return {
    findModel: async (tenant: string) => {
      const row = await reader.permissionModel.findUnique({ where: { tenant_id: tenant } });
      return row === null ? null : { hash: row.model_hash, text: row.model };
    },
    listProperties: (tenant: string, entities: Parameters<typeof listProperties>[2]) =>
      listProperties(reader, tenant, entities),
    listEntities: (tenant: string, page: Parameters<typeof listEntities>[2]) => listEntities(reader, tenant, page),
  };
}
