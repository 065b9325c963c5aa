import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlainJson } from '@countersign/contracts';
import { PermissionModel, type AccessDecision, type AccessRequest } from '@countersign/contracts/governance-kernel';
import type { Permission, RelationQuestion } from '@countersign/policy';
import type { Entity, KnownEntity } from '../relations/entity.ts';
import { isFresh } from '../relations/freshness.ts';
import { isName } from '../relations/is-name.ts';
import { compileModel, type CompiledModel } from '../relations/permission-models.ts';
import type { RelationGraph } from '../relations/relation-graph.ts';
import type { RelationHead } from '../relations/relation-heads.ts';
import type { Relations } from '../relations/relation-source.ts';

type StoredModel = { readonly hash: string; readonly text: string };

export type AccessParts = {
  relations: Relations;
  clock: () => Date;
  config: { relationsAgeMaxMs: number };
  permissions: {
    findModel(tenant: string): Promise<StoredModel | null>;
    /** Of those that are known, in any order. */
    listProperties(tenant: string, entities: readonly Entity[]): Promise<KnownEntity[]>;
    /** A page of a type, by id. */
    listEntities(tenant: string, page: { type: string; after: string | null; limit: number }): Promise<KnownEntity[]>;
  };
};

/** One snapshot with its model; null where nothing may be answered by it. */
export type Standing = { readonly tenant: string; readonly model: CompiledModel } | null;

/** Compiled models by their hash: what is compiled of a text depends on nothing else. */
const compiled = new Map<string, CompiledModel>();
const compiledMax = 1_000;
const turnMsMax = 10;

/** All that `work` reads is of one snapshot, fresh, with its model. */
export function underSnapshot<Result>(
  parts: AccessParts,
  tenant: string,
  work: (standing: Standing) => Promise<Result>,
): Promise<Result> {
  return parts.relations.atOneSnapshot(tenant, async (head) => {
    const model = isReadable(parts, head) ? await parts.permissions.findModel(tenant) : null;
    return await work(model === null ? null : { tenant, model: compiledOf(model) });
  });
}

function isReadable({ clock, config }: AccessParts, head: RelationHead | null): boolean {
  return head !== null && isFresh(head, { nowMs: clock().getTime(), ageMaxMs: config.relationsAgeMaxMs });
}

function compiledOf({ hash, text }: StoredModel): CompiledModel {
  const known = compiled.get(hash);
  if (known !== undefined) return known;
  if (compiled.size >= compiledMax) compiled.clear();
  const model = compileModel(PermissionModel.parse(JSON.parse(text)));
  compiled.set(hash, model);
  return model;
}

/** In the order of the requests. What is known of an entity counts unless the request says otherwise. */
export async function answerAccesses(
  parts: AccessParts,
  standing: Standing,
  requests: readonly AccessRequest[],
): Promise<AccessDecision[]> {
  if (standing === null) return requests.map(() => refused('AUTHZ_SNAPSHOT_STALE'));
  const { tenant } = standing;
  const known = await knownProperties(parts, tenant, requests);
  const asked = requests.map((request) => ({ request, permission: permissionFor(standing.model, request) }));
  const graph = await parts.relations.load(tenant, asked.flatMap(questionsOf));
  const decisions: AccessDecision[] = [];
  let turnSinceMs = performance.now();
  for (const { request, permission } of asked) {
    decisions.push(
      permission === undefined ? refused('PERMISSION_UNKNOWN') : answer({ request, permission, known, graph }),
    );
    // Expressions are bounded one by one; other callers have their turn in between.
    if (performance.now() - turnSinceMs < turnMsMax) continue;
    await nextTurn();
    turnSinceMs = performance.now();
  }
  return decisions;
}

type Known = ReadonlyMap<string, Readonly<Record<string, PlainJson>>>;

const textOf = ({ type, id }: Entity) => `${type}:${id}`;

async function knownProperties(parts: AccessParts, tenant: string, requests: readonly AccessRequest[]): Promise<Known> {
  const named = new Map(
    requests.flatMap(({ subject, resource }) => [subject, resource]).map((one) => [textOf(one), one]),
  );
  // Of what no tuple could hold nothing is known, and PostgreSQL has no text for some of it.
  const known = [...named].filter(([name]) => isName(name)).map(([, entity]) => entity);
  const rows = await parts.permissions.listProperties(tenant, known);
  return new Map(rows.map((row) => [textOf(row), row.properties]));
}

function permissionFor(model: CompiledModel, { action, resource }: AccessRequest): Permission | undefined {
  return model.get(resource.type)?.get(action.name);
}

type Asked = { request: AccessRequest; permission: Permission | undefined };

function questionsOf({ request, permission }: Asked): RelationQuestion[] {
  return (permission?.relations ?? []).flatMap((relation) => questionOf(request, relation) ?? []);
}

/** Null for names that no tuple could hold. */
function questionOf({ subject, resource }: AccessRequest, relation: string): RelationQuestion | null {
  const question = { object: textOf(resource), relation, subject: textOf(subject) };
  return isName(question.object) && isName(question.subject) ? question : null;
}

type Answerable = { request: AccessRequest; permission: Permission; known: Known; graph: RelationGraph };

function answer({ request, permission, known, graph }: Answerable): AccessDecision {
  const relations: Record<string, boolean> = {};
  for (const relation of permission.relations) {
    const question = questionOf(request, relation);
    const found = question === null ? { path: null, isCut: false } : graph.find(question);
    if (!found.isCut) relations[relation] = found.path !== null;
  }
  const { action, context } = request;
  const [subject, resource] = [withKnown(request.subject, known), withKnown(request.resource, known)];
  return { decision: permission.holds({ subject, action, resource, context, relations }) };
}

function withKnown(entity: AccessRequest['subject'], known: Known) {
  return { ...entity, properties: { ...known.get(textOf(entity)), ...entity.properties } };
}

function refused(reason: string): AccessDecision {
  return { decision: false, context: { reason_code: reason } };
}
