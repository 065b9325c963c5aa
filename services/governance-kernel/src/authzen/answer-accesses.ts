import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlainJson } from '@countersign/contracts';
import { PermissionModel, type AccessDecision, type AccessRequest } from '@countersign/contracts/governance-kernel';
import type { Permission, RelationQuestion } from '@countersign/policy';
import type { Entity, KnownEntity } from '../relations/entity.ts';
import { isFresh } from '../relations/freshness.ts';
import { isName } from '../relations/is-name.ts';
import { CompiledModel } from '../relations/permission-models.ts';
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
    /** The properties of known entities, in any order. */
    listProperties(tenant: string, entities: readonly Entity[]): Promise<KnownEntity[]>;
    /** A page of a type, by id. */
    listEntities(tenant: string, page: { type: string; after: string | null; limit: number }): Promise<KnownEntity[]>;
  };
};

/** One snapshot with its model; a model of null where nothing may be answered, for the reason given. */
export type Standing =
  | { readonly tenant: string; readonly model: CompiledModel }
  | { readonly model: null; readonly reason: 'AUTHZ_SNAPSHOT_STALE' | 'PERMISSION_MODEL_MISSING' };

/** Models by their hash: what is compiled of a text depends on nothing else. */
const models = new Map<string, CompiledModel>();
const modelsMax = 1_000;
const turnMsMax = 10;
/** The most questions of one search of the tuples: each of them may have to be found below each object. */
const questionsMax = 1_000;

/** All that `work` reads is of one snapshot, fresh, with its model. */
export function underSnapshot<Result>(
  parts: AccessParts,
  tenant: string,
  work: (standing: Standing) => Promise<Result>,
): Promise<Result> {
  return parts.relations.atOneSnapshot(tenant, async (head) => {
    if (!isReadable(parts, head)) return await work({ model: null, reason: 'AUTHZ_SNAPSHOT_STALE' });
    const model = await parts.permissions.findModel(tenant);
    if (model === null) return await work({ model: null, reason: 'PERMISSION_MODEL_MISSING' });
    return await work({ tenant, model: compiledOf(model) });
  });
}

function isReadable({ clock, config }: AccessParts, head: RelationHead | null): boolean {
  return head !== null && isFresh(head, { nowMs: clock().getTime(), ageMaxMs: config.relationsAgeMaxMs });
}

function compiledOf({ hash, text }: StoredModel): CompiledModel {
  const known = models.get(hash);
  if (known !== undefined) return known;
  if (models.size >= modelsMax) models.clear();
  const model = new CompiledModel(PermissionModel.parse(JSON.parse(text)));
  models.set(hash, model);
  return model;
}

type Asked = { request: AccessRequest; permission: Permission | undefined };

/** In the order of the requests. Stored properties of an entity count unless the request overrides them. */
export async function answerAccesses(
  parts: AccessParts,
  standing: Standing,
  requests: readonly AccessRequest[],
): Promise<AccessDecision[]> {
  if (standing.model === null) return requests.map(() => refused(standing.reason));
  const { tenant, model } = standing;
  const known = new KnownEntities(await knownProperties(parts, tenant, requests));
  const decisions: AccessDecision[] = [];
  let together: Asked[] = [];
  let questions = 0;
  const answerTogether = async () => {
    decisions.push(...(await answerUnderGraph(parts, tenant, { together, known })));
    [together, questions] = [[], 0];
  };
  for (const request of requests) {
    const permission = model.find(request.resource.type, request.action.name);
    const count = permission?.relations.length ?? 0;
    if (questions + count > questionsMax) await answerTogether();
    together.push({ request, permission });
    questions += count;
  }
  await answerTogether();
  return decisions;
}

type Together = { together: readonly Asked[]; known: KnownEntities };

async function answerUnderGraph(parts: AccessParts, tenant: string, { together, known }: Together) {
  const graph = await parts.relations.load(tenant, together.flatMap(questionsOf));
  const decisions: AccessDecision[] = [];
  let turnSinceMs = performance.now();
  for (const { request, permission } of together) {
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

type Properties = Readonly<Record<string, PlainJson>>;
type AccessEntity = AccessRequest['subject'];

/**
 * The stored properties of entities, merged with those of requests. Items of a batch share what stands above them, so
 * each entity is put together once.
 */
class KnownEntities {
  readonly #properties: ReadonlyMap<string, Properties>;
  readonly #whole = new Map<AccessEntity, AccessEntity>();

  constructor(properties: ReadonlyMap<string, Properties>) {
    this.#properties = properties;
  }

  whole(entity: AccessEntity): AccessEntity {
    const known = this.#whole.get(entity);
    if (known !== undefined) return known;
    const whole = { ...entity, properties: { ...this.#properties.get(textOf(entity)), ...entity.properties } };
    this.#whole.set(entity, whole);
    return whole;
  }
}

const textOf = ({ type, id }: Entity) => `${type}:${id}`;

async function knownProperties(
  parts: AccessParts,
  tenant: string,
  requests: readonly AccessRequest[],
): Promise<Map<string, Properties>> {
  const named = new Map(
    requests.flatMap(({ subject, resource }) => [subject, resource]).map((one) => [textOf(one), one]),
  );
  // An impossible name has no stored properties, and PostgreSQL has no text for some of them.
  const known = [...named].filter(([name]) => isName(name)).map(([, entity]) => entity);
  const rows = await parts.permissions.listProperties(tenant, known);
  return new Map(rows.map((row) => [textOf(row), row.properties]));
}

function questionsOf({ request, permission }: Asked): RelationQuestion[] {
  return (permission?.relations ?? []).flatMap((relation) => questionOf(request, relation) ?? []);
}

/** Null for names that no tuple could hold. */
function questionOf({ subject, resource }: AccessRequest, relation: string): RelationQuestion | null {
  const question = { object: textOf(resource), relation, subject: textOf(subject) };
  return isName(question.object) && isName(question.subject) ? question : null;
}

type Answerable = { request: AccessRequest; permission: Permission; known: KnownEntities; graph: RelationGraph };

function answer({ request, permission, known, graph }: Answerable): AccessDecision {
  const relations: Record<string, boolean> = {};
  for (const relation of permission.relations) {
    const question = questionOf(request, relation);
    const found = question === null ? { path: null, isCut: false } : graph.find(question);
    if (!found.isCut) relations[relation] = found.path !== null;
  }
  const { action, context } = request;
  const [subject, resource] = [known.whole(request.subject), known.whole(request.resource)];
  return { decision: permission.holds({ subject, action, resource, context, relations }) };
}

function refused(reason: string): AccessDecision {
  return { decision: false, context: { reason_code: reason } };
}
