import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlainJson } from '@countersign/contracts';
import { PermissionModel, type AccessDecision, type AccessRequest } from '@countersign/contracts/governance-kernel';
import type { Permission, RelationQuestion } from '@countersign/policy';
import type { Entity, KnownEntity } from '../../controls/relations/entity.ts';
import { isFresh } from '../../controls/relations/freshness.ts';
import { isName } from '../../controls/relations/is-name.ts';
import { CompiledModel } from '../../controls/relations/permission-models.ts';
import type { RelationGraph } from '../../controls/relations/relation-graph.ts';
import type { RelationHead } from '../../controls/relations/relation-heads.ts';
import type { Relations } from '../../controls/relations/relation-source.ts';

type StoredModel = { readonly hash: string; readonly text: string };

export type AccessDeps = {
  relations: Relations;
  clock: () => Date;
  config: { relationsAgeMaxMs: number };
  permissions: {
    findModel(tenant: string): Promise<StoredModel | null>;
    /** The properties of known entities, in any order. */
    listProperties(tenant: string, entities: readonly Entity[]): Promise<KnownEntity[]>;
    /** A page of the entities of a type, sorted by id. */
    listEntities(tenant: string, page: { type: string; after: string | null; limit: number }): Promise<KnownEntity[]>;
  };
};

/**
 * The permission model at one snapshot of the tenant's relations. `model` is `null` when nothing may be answered, for
 * the given reason.
 */
export type CurrentState =
  | { readonly tenant: string; readonly model: CompiledModel }
  | { readonly model: null; readonly reason: 'AUTHZ_SNAPSHOT_STALE' | 'PERMISSION_MODEL_MISSING' };

/** Compiled models by hash, since compilation depends only on the text. */
const models = new Map<string, CompiledModel>();
const modelsMax = 1_000;
const turnMsMax = 10;
/** The most queries whose tuples are loaded together, since the load may look for each subject below each object. */
const questionsMax = 1_000;

/** Runs `work` on one fresh snapshot and its model, or with the reason why one of them is missing. */
export function underSnapshot<Result>(
  deps: AccessDeps,
  tenant: string,
  work: (current: CurrentState) => Promise<Result>,
): Promise<Result> {
  return deps.relations.atOneSnapshot(tenant, async (head) => {
    if (!isReadable(deps, head)) return await work({ model: null, reason: 'AUTHZ_SNAPSHOT_STALE' });
    const model = await deps.permissions.findModel(tenant);
    if (model === null) return await work({ model: null, reason: 'PERMISSION_MODEL_MISSING' });
    return await work({ tenant, model: compiledOf(model) });
  });
}

function isReadable({ clock, config }: AccessDeps, head: RelationHead | null): boolean {
  return head !== null && isFresh(head, { nowMs: clock().getTime(), ageMaxMs: config.relationsAgeMaxMs });
}

function compiledOf({ hash, text }: StoredModel): CompiledModel {
  const existing = models.get(hash);
  if (existing !== undefined) return existing;
  if (models.size >= modelsMax) models.clear();
  const model = new CompiledModel(PermissionModel.parse(JSON.parse(text)));
  models.set(hash, model);
  return model;
}

type Input = { request: AccessRequest; permission: Permission | undefined };

/** Answers in the order of the requests. Stored properties of an entity apply unless the request overrides them. */
export async function answerAccesses(
  deps: AccessDeps,
  current: CurrentState,
  requests: readonly AccessRequest[],
): Promise<AccessDecision[]> {
  if (current.model === null) return requests.map(() => refused(current.reason));
  const { tenant, model } = current;
  const existing = new KnownEntities(await knownProperties(deps, tenant, requests));
  const decisions: AccessDecision[] = [];
  let together: Input[] = [];
  let questions = 0;
  const answerTogether = async () => {
    decisions.push(...(await answerUnderGraph(deps, tenant, { together, existing })));
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

type Together = { together: readonly Input[]; existing: KnownEntities };

async function answerUnderGraph(deps: AccessDeps, tenant: string, { together, existing }: Together) {
  const graph = await deps.relations.load(tenant, together.flatMap(questionsOf));
  const decisions: AccessDecision[] = [];
  let turnSinceMs = performance.now();
  for (const { request, permission } of together) {
    decisions.push(
      permission === undefined ? refused('PERMISSION_UNKNOWN') : answer({ request, permission, existing, graph }),
    );
    // Each expression is bounded. Other callers are served between two expressions.
    if (performance.now() - turnSinceMs < turnMsMax) continue;
    await nextTurn();
    turnSinceMs = performance.now();
  }
  return decisions;
}

type Properties = Readonly<Record<string, PlainJson>>;
type AccessEntity = AccessRequest['subject'];

/**
 * The stored properties of entities, merged with those of requests. Items of a batch share their default entities, so
 * each entity is merged only once.
 */
class KnownEntities {
  readonly #properties: ReadonlyMap<string, Properties>;
  readonly #whole = new Map<AccessEntity, AccessEntity>();

  constructor(properties: ReadonlyMap<string, Properties>) {
    this.#properties = properties;
  }

  whole(entity: AccessEntity): AccessEntity {
    const existing = this.#whole.get(entity);
    if (existing !== undefined) return existing;
    const whole = { ...entity, properties: { ...this.#properties.get(textOf(entity)), ...entity.properties } };
    this.#whole.set(entity, whole);
    return whole;
  }
}

const textOf = ({ type, id }: Entity) => `${type}:${id}`;

async function knownProperties(
  deps: AccessDeps,
  tenant: string,
  requests: readonly AccessRequest[],
): Promise<Map<string, Properties>> {
  const named = new Map(
    requests.flatMap(({ subject, resource }) => [subject, resource]).map((one) => [textOf(one), one]),
  );
  // An impossible name has no stored properties, and PostgreSQL cannot represent some of these names.
  const existing = [...named].filter(([name]) => isName(name)).map(([, entity]) => entity);
  const rows = await deps.permissions.listProperties(tenant, existing);
  return new Map(rows.map((row) => [textOf(row), row.properties]));
}

function questionsOf({ request, permission }: Input): RelationQuestion[] {
  return (permission?.relations ?? []).flatMap((relation) => questionOf(request, relation) ?? []);
}

/** `null` for names that no tuple can contain. */
function questionOf({ subject, resource }: AccessRequest, relation: string): RelationQuestion | null {
  const question = { object: textOf(resource), relation, subject: textOf(subject) };
  return isName(question.object) && isName(question.subject) ? question : null;
}

type Answerable = { request: AccessRequest; permission: Permission; existing: KnownEntities; graph: RelationGraph };

function answer({ request, permission, existing, graph }: Answerable): AccessDecision {
  const relations: Record<string, boolean> = {};
  for (const relation of permission.relations) {
    const question = questionOf(request, relation);
    const found = question === null ? { path: null, isCut: false } : graph.find(question);
    if (!found.isCut) relations[relation] = found.path !== null;
  }
  const { action, context } = request;
  const [subject, resource] = [existing.whole(request.subject), existing.whole(request.resource)];
  return { decision: permission.holds({ subject, action, resource, context, relations }) };
}

function refused(reason: string): AccessDecision {
  return { decision: false, context: { reason_code: reason } };
}
