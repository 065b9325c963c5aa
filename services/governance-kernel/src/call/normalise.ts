import type { CryptoProvider } from '@countersign/crypto';
import type { Digest, EffectLevel } from '@countersign/contracts';
import { leastEffectOf } from '@countersign/contracts/governance-kernel';
import {
  declaredApart,
  graverEffect,
  mistakenFor,
  type CompiledPolicy,
  type Intent,
  type Work,
} from '@countersign/policy';
import { hashedArguments, intentHash } from '@countersign/receipts';
import { declaredEffect } from '../registry/declared-effect.ts';
import type { ToolResolution } from '../registry/tool-resolver.ts';
import type { NamedCall } from './governed-call.ts';
import { assertNoAuthority } from './reserved-context.ts';
import { assertCallersSession } from '../ledger/own-sessions.ts';

export type Hasher = { provider: CryptoProvider; saltOf(tenant: string): Uint8Array };
export type SealedIntent = Intent & {
  args_hash: Digest;
  intent_hash: Digest;
  /** The fewest bytes that leave with a call other than a model call: its arguments, whatever its caller declares. */
  args_bytes: number;
};

/** The known facts about a call when it is normalised. */
type Basis = {
  resolution: ToolResolution | null;
  policy: CompiledPolicy | null;
  /** The remaining work for reading the call. Absent for the full work of a decision. */
  work?: Work;
};

type Normalised = {
  intent: SealedIntent;
  /** The fault of the call, as text for its caller. `null` when there is none. */
  fault: string | null;
};

/**
 * Step 2 of the cycle: one frozen intent with its hashes, under the canonical name of the tool. Throws
 * RESERVED_CONTEXT_KEY, and INVALID_REQUEST for a session that is reserved for the kernel.
 */
export function normalise({ provider, saltOf }: Hasher, call: NamedCall, existing: Basis): Normalised {
  assertNoAuthority(call.context);
  assertCallersSession(call.session);
  const { tenant, principal } = call.caller;
  const { session, args } = call;
  const action = actionOf(call);
  const tool = existing.resolution?.kind === 'registered' ? existing.resolution.tool : toolOf(call);
  const resource = call.kind === 'model' ? call.model : call.resource;
  const { hash: args_hash, bytes: args_bytes } = hashedArguments(provider, saltOf(tenant), args);
  const intent = Object.freeze({
    tenant,
    principal,
    session,
    action,
    tool,
    resource,
    effect_level: effectOf(call, tool, existing),
    args,
    context: call.context,
    args_hash,
    args_bytes,
    intent_hash: intentHash(provider, { tenant, principal, session, action, tool, resource, args_hash }),
  });
  return { intent, fault: faultOf(call, intent, existing) };
}

/** The same call under another policy, with that policy's declarations for the tool. */
export function underPolicy(call: NamedCall, intent: SealedIntent, existing: Basis): Normalised {
  const seen = Object.freeze({ ...intent, effect_level: effectOf(call, intent.tool, existing) });
  return { intent: seen, fault: faultOf(call, seen, existing) };
}

/** The tool of a call, in its caller's spelling. */
export function toolOf(call: NamedCall): string | null {
  return call.kind === 'model' ? null : call.tool;
}

function actionOf(call: NamedCall): string {
  switch (call.kind) {
    case 'tool':
      return 'tool.call';
    case 'model':
      return 'model.call';
    case 'custom':
      return call.action;
  }
}

/**
 * The declared effect of action and tool, raised by the caller's declaration. An undeclared tool is E4, whatever its
 * caller declares. A custom action without a tool is E4 if its caller declares no effect.
 */
function effectOf(call: NamedCall, tool: string | null, { resolution, policy }: Omit<Basis, 'work'>): EffectLevel {
  const least = leastEffectOf(actionOf(call));
  const byRegistry = resolution?.kind === 'registered' ? resolution.effectLevel : null;
  const declared =
    tool === null
      ? least
      : graverEffect(least, declaredEffect(tool, { byRegistry, policy, isOwn: resolution?.kind !== 'registered' }));
  const unsaid = call.kind === 'custom' && tool === null ? 'E4' : 'E0';
  return graverEffect(declared, call.effectLevel ?? unsaid);
}

function faultOf(call: NamedCall, { action, tool }: SealedIntent, { resolution, policy, work }: Basis): string | null {
  if (typeof call.malformedArguments === 'string') return call.malformedArguments;
  if (call.malformedArguments === true) return 'The arguments are not a JSON object.';
  if (tool === null) return action === 'tool.call' ? 'The call names no tool.' : null;
  // A model call is not a tool call, so no budget would count a tool in it.
  if (action === 'model.call') return 'A model call must not name a tool.';
  if (resolution === null) {
    const declared = policy === null ? null : mistakenFor(policy.tools, tool, work);
    return declared === null ? null : `The name looks like "${declared}" but is a different name.`;
  }
  if (resolution.kind === 'look_alike')
    return `The name can be mistaken for a tool of the server "${resolution.serverId}" with a different name.`;
  const apart = policy === null ? null : declaredUnderAlias(call, tool, { policy, work });
  if (apart !== null) return `The name stands for "${tool}", but the policy declares "${apart}" separately.`;
  return action === 'tool.call' ? null : 'A registered tool can be called only with the action tool.call.';
}

/**
 * The name by which the policy declares this call's alias separately from the tool, or `null`. Models write
 * `files__read` for `files.read`, so that alias never means a different tool.
 */
function declaredUnderAlias(
  call: NamedCall,
  tool: string,
  { policy, work }: { policy: CompiledPolicy; work: Work | undefined },
): string | null {
  const alias = toolOf(call);
  if (alias === null || alias === tool || alias === tool.replace('.', '__')) return null;
  return declaredApart(policy.tools, { alias, tool }, work);
}
