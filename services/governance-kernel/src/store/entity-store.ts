import { PlainObject } from '@countersign/contracts';
import { z } from 'zod';
import type { Entity, KnownEntity } from '../controls/relations/entity.ts';
import type { Reader } from './database.ts';

/** The properties of known entities, in any order. */
export async function listProperties(
  reader: Reader,
  tenant: string,
  entities: readonly Entity[],
): Promise<KnownEntity[]> {
  if (entities.length === 0) return [];
  const [types, ids] = [entities.map(({ type }) => type), entities.map(({ id }) => id)];
  const rows = await reader.$queryRaw`
    SELECT e.entity_type, e.entity_id, e.properties FROM unnest(${types}::text[], ${ids}::text[]) AS w(type, id)
      JOIN relation_entities e ON e.tenant_id = ${tenant} AND e.entity_type = w.type AND e.entity_id = w.id`;
  return knownOf(KnownRows.parse(rows));
}

/** A page of a type, by id. */
export async function listEntities(
  reader: Reader,
  tenant: string,
  { type, after, limit }: { type: string; after: string | null; limit: number },
): Promise<KnownEntity[]> {
  const rows = await reader.relationEntity.findMany({
    where: { tenant_id: tenant, entity_type: type, ...(after === null ? {} : { entity_id: { gt: after } }) },
    orderBy: { entity_id: 'asc' },
    take: limit,
  });
  return knownOf(KnownRows.parse(rows));
}

const KnownRows = z.array(z.object({ entity_type: z.string(), entity_id: z.string(), properties: PlainObject }));

function knownOf(rows: z.infer<typeof KnownRows>): KnownEntity[] {
  return rows.map(({ entity_type: type, entity_id: id, properties }) => ({ type, id, properties }));
}
