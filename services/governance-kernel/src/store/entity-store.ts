import { PlainObject } from '@countersign/contracts';
import { z } from 'zod';
import type { Entity, KnownEntity } from '../relations/entity.ts';
import type { Reader, Tx } from './database.ts';

const EntityRows = z.array(z.object({ entity_type: z.string(), entity_id: z.string() }));

/** Entities that a tuple names, so that searches can go through a type; what is known of them stays. */
export async function insertEntities(tx: Tx, tenant: string, entities: readonly Entity[]): Promise<void> {
  const [types, ids] = [entities.map(({ type }) => type), entities.map(({ id }) => id)];
  await tx.$executeRaw`
    INSERT INTO relation_entities (tenant_id, entity_type, entity_id, properties)
    SELECT DISTINCT ${tenant}, w.type, w.id, '{}'::jsonb FROM unnest(${types}::text[], ${ids}::text[]) AS w(type, id)
    ON CONFLICT DO NOTHING`;
}

/** Those whose properties changed. */
export async function putEntities(tx: Tx, tenant: string, entities: readonly KnownEntity[]): Promise<Entity[]> {
  const columns = [entities.map(({ type }) => type), entities.map(({ id }) => id)] as const;
  const properties = entities.map((entity) => JSON.stringify(entity.properties));
  const rows = await tx.$queryRaw`
    INSERT INTO relation_entities (tenant_id, entity_type, entity_id, properties)
    SELECT ${tenant}, w.type, w.id, w.properties::jsonb
      FROM unnest(${columns[0]}::text[], ${columns[1]}::text[], ${properties}::text[]) AS w(type, id, properties)
    ON CONFLICT (tenant_id, entity_type, entity_id) DO UPDATE SET properties = excluded.properties
      WHERE relation_entities.properties <> excluded.properties
    RETURNING entity_type, entity_id`;
  return entitiesOf(rows);
}

/** Those that were there. */
export async function deleteEntities(tx: Tx, tenant: string, entities: readonly Entity[]): Promise<Entity[]> {
  const [types, ids] = [entities.map(({ type }) => type), entities.map(({ id }) => id)];
  const rows = await tx.$queryRaw`
    DELETE FROM relation_entities e USING unnest(${types}::text[], ${ids}::text[]) AS w(type, id)
     WHERE e.tenant_id = ${tenant} AND e.entity_type = w.type AND e.entity_id = w.id RETURNING e.entity_type, e.entity_id`;
  return entitiesOf(rows);
}

function entitiesOf(rows: unknown): Entity[] {
  return EntityRows.parse(rows).map(({ entity_type: type, entity_id: id }) => ({ type, id }));
}

/** Of those that are known, in any order. */
export async function listProperties(
  reader: Reader,
  tenant: string,
  entities: readonly Entity[],
): Promise<KnownEntity[]> {
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
