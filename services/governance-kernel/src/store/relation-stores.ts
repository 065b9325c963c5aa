import type { StandingRelations } from '../controls/relations/change-relations.ts';
import { Relations } from '../controls/relations/relation-source.ts';
import { Turns } from '../controls/relations/turns.ts';
import type { Reader, Transaction } from './database.ts';
import { listEntities, listProperties } from './entity-store.ts';
import { confirmSnapshot, findRelationHead, findSnapshot } from './relation-store.ts';
import { listTuples, listTuplesOf, loadTuples } from './tuple-store.ts';

/** The tables that relation queries read. */
export function relationsIn(reader: Reader): Relations {
  return new Relations({
    findHead: (tenant) => findRelationHead(reader, tenant),
    loadTuples: (tenant, sought) => loadTuples(reader, tenant, sought),
  });
}

/** The tables for relation changes and permissions. */
export function relationStores({ reader, transaction }: { reader: Reader; transaction: Transaction }) {
  return {
    standingRelations: standingIn(reader, transaction),
    relationTurns: new Turns(),
    permissions: permissionsIn(reader),
  };
}

function standingIn(reader: Reader, transaction: Transaction): StandingRelations {
  return {
    find: async (tenant) => {
      const head = await findRelationHead(reader, tenant);
      const snapshot = head === null ? null : await findSnapshot(reader, tenant, head.version);
      return head === null || snapshot === null ? null : { head, snapshot };
    },
    listTuples: (tenant, tuples) => listTuples(reader, tenant, tuples),
    listTuplesOf: (tenant, object, relations) => listTuplesOf(reader, tenant, { object, relations }),
    listProperties: (tenant, entities) => listProperties(reader, tenant, entities),
    confirm: (tenant, version, at) => transaction((tx) => confirmSnapshot(tx, tenant, { version, at })),
  };
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
