import type { RelationTuple } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { depthMax, nodeOf, type LoadedTuples, type Node } from '../controls/relations/relation-graph.ts';
import type { Sought } from '../controls/relations/relation-source.ts';
import type { Reader } from './database.ts';

/** The most groups for the queries of one request. Beyond that, the answer is unknown. */
const groupsMax = 5_000;

const TupleRows = z.array(z.object({ object: z.string(), relation: z.string(), subject: z.string() }));

/**
 * The tuples for queries about these nodes and subjects: the groups below the nodes, and the memberships of the
 * subjects in all of them.
 */
export async function loadTuples(reader: Reader, tenant: string, { nodes, subjects }: Sought): Promise<LoadedTuples> {
  const { groups, reached, isCut } = await loadGroups(reader, tenant, nodes);
  const members = await listMemberships(reader, tenant, { nodes: [...reached], subjects });
  return { groups, members: byKey(members.map((tuple) => [tuple.subject, nodeOf(tuple)])), isCut };
}

async function loadGroups(reader: Reader, tenant: string, nodes: readonly Node[]) {
  const contained: [Node, Node][] = [];
  const reached = new Set(nodes);
  let level = [...reached];
  let room = groupsMax;
  for (let depth = 0; depth < depthMax && level.length > 0 && room > 0; depth += 1) {
    const tuples = await listGroups(reader, tenant, level, room + 1);
    const next = new Set<Node>();
    for (const tuple of tuples.slice(0, room)) {
      contained.push([nodeOf(tuple), tuple.subject]);
      if (!reached.has(tuple.subject)) next.add(tuple.subject);
      reached.add(tuple.subject);
    }
    room -= tuples.length;
    level = [...next];
  }
  return { groups: byKey(contained), reached, isCut: room < 0 };
}

/** Groups values by key, in their order. */
function byKey(pairs: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>();
  for (const [key, value] of pairs) {
    const existing = sets.get(key);
    if (existing === undefined) sets.set(key, new Set([value]));
    else existing.add(value);
  }
  return sets;
}

async function listGroups(reader: Reader, tenant: string, nodes: readonly Node[], limit: number) {
  const { objects, relations } = columnsOfNodes(nodes);
  return TupleRows.parse(
    await reader.$queryRaw`
      SELECT w.object, w.relation, t.subject
        FROM unnest(${objects}::text[], ${relations}::text[]) WITH ORDINALITY AS w(object, relation, nth)
       CROSS JOIN LATERAL (
         SELECT subject FROM relation_tuples
          WHERE tenant_id = ${tenant} AND object = w.object AND relation = w.relation AND is_userset
          ORDER BY subject LIMIT ${limit}) AS t
       ORDER BY w.nth, t.subject LIMIT ${limit}`,
  );
}

async function listMemberships(reader: Reader, tenant: string, { nodes, subjects }: Sought) {
  const { objects, relations } = columnsOfNodes(nodes);
  return TupleRows.parse(
    await reader.$queryRaw`
      SELECT t.object, t.relation, t.subject FROM unnest(${objects}::text[], ${relations}::text[]) AS wanted(object, relation)
       CROSS JOIN unnest(${[...new Set(subjects)]}::text[]) AS sought(subject)
        JOIN relation_tuples t USING (object, relation, subject)
       WHERE t.tenant_id = ${tenant} AND t.is_userset = (strpos(sought.subject, '#') > 0)`,
  );
}

/** The last `#` of a node precedes its relation. */
function columnsOfNodes(nodes: readonly Node[]) {
  const cut = nodes.map((node) => node.lastIndexOf('#'));
  return {
    objects: nodes.map((node, index) => node.slice(0, cut[index])),
    relations: nodes.map((node, index) => node.slice((cut[index] ?? 0) + 1)),
  };
}

/** The tuples among these that exist. */
export async function listTuples(
  reader: Reader,
  tenant: string,
  tuples: readonly RelationTuple[],
): Promise<RelationTuple[]> {
  if (tuples.length === 0) return [];
  const objects = tuples.map(({ object }) => object as string);
  const relations = tuples.map(({ relation }) => relation as string);
  const subjects = tuples.map(({ subject }) => subject as string);
  const rows = await reader.$queryRaw`
    SELECT t.object, t.relation, t.subject
      FROM unnest(${objects}::text[], ${relations}::text[], ${subjects}::text[]) AS w(object, relation, subject)
      JOIN relation_tuples t ON t.tenant_id = ${tenant} AND t.object = w.object AND t.relation = w.relation
       AND t.is_userset = (strpos(w.subject, '#') > 0) AND t.subject = w.subject`;
  return TupleRows.parse(rows) as RelationTuple[]; // equal to parsed tuples
}

/** All tuples of one object with these relations. */
export async function listTuplesOf(
  reader: Reader,
  tenant: string,
  { object, relations }: { object: string; relations: readonly string[] },
): Promise<RelationTuple[]> {
  const rows = await reader.relationTuple.findMany({
    where: { tenant_id: tenant, object, relation: { in: [...relations] } },
    select: { object: true, relation: true, subject: true },
  });
  return rows as RelationTuple[]; // as above
}

/** Tuples with this exact subject, by object. */
export async function listTuplesOfSubject(
  reader: Reader,
  tenant: string,
  { subject, limit }: { subject: string; limit: number },
): Promise<RelationTuple[]> {
  const rows = await reader.relationTuple.findMany({
    where: { tenant_id: tenant, subject },
    orderBy: [{ object: 'asc' }, { relation: 'asc' }],
    select: { object: true, relation: true, subject: true },
    take: limit,
  });
  return rows as RelationTuple[]; // as above
}
