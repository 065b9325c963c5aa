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
import { argsHash, intentHash } from '@countersign/receipts';
import { declaredEffect } from '../registry/declared-effect.ts';
import type { ToolResolution } from '../registry/tool-resolver.ts';
import type { NamedCall } from './governed-call.ts';
import { assertNoAuthority } from './reserved-context.ts';
import { assertCallersSession } from '../ledger/own-sessions.ts';

export type Hasher = { provider: CryptoProvider; saltOf(tenant: string): Uint8Array };
export type SealedIntent = Intent & { args_hash: Digest; intent_hash: Digest };

/** The known facts about a call when it is normalised. */
type Known = {
  resolution: ToolResolution | null;
  policy: CompiledPolicy | null;
  /** The work that reading the call may still take; absent: as much as a decision. */
  work?: Work;
};

type Normalised = {
  intent: SealedIntent;
  /** The fault of the call, in words for its caller; `null` when there is none. */
  fault: string | null;
};

/**
 * Step 2 of the cycle: one frozen intent with its hashes, under the tool's own name. Throws RESERVED_CONTEXT_KEY, and INVALID_REQUEST for
 * a session that the kernel keeps for itself.
 */
export function normalise({ provider, saltOf }: Hasher, call: NamedCall, known: Known): Normalised {
  assertNoAuthority(call.context);
  assertCallersSession(call.session);
  const { tenant, principal } = call.caller;
  const { session, args } = call;
  const action = actionOf(call);
  const tool = known.resolution?.kind === 'registered' ? known.resolution.tool : toolOf(call);
  const resource = call.kind === 'model' ? call.model : call.resource;
  const args_hash = argsHash(provider, saltOf(tenant), args);
  const intent = Object.freeze({
    tenant,
    principal,
    session,
    action,
    tool,
    resource,
    effect_level: effectOf(call, tool, known),
    args,
    context: call.context,
    args_hash,
    intent_hash: intentHash(provider, { tenant, principal, session, action, tool, resource, args_hash }),
  });
  return { intent, fault: faultOf(call, intent, known) };
}

/** The same call as another policy takes it: with what that one declares of the tool. */
export function underPolicy(call: NamedCall, intent: SealedIntent, known: Known): Normalised {
  const seen = Object.freeze({ ...intent, effect_level: effectOf(call, intent.tool, known) });
  return { intent: seen, fault: faultOf(call, seen, known) };
}

/** The tool that a call names, in its caller's spelling. */
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
 * caller declares. An action without a tool and without a declaration is E4 too.
 */
function effectOf(call: NamedCall, tool: string | null, { resolution, policy }: Omit<Known, 'work'>): EffectLevel {
  const least = leastEffectOf(actionOf(call));
  const byRegistry = resolution?.kind === 'registered' ? resolution.effectLevel : null;
  const declared =
    tool === null
      ? least
      : graverEffect(least, declaredEffect(tool, { byRegistry, policy, isOwn: resolution?.kind !== 'registered' }));
  const unsaid = call.kind === 'custom' && tool === null ? 'E4' : 'E0';
  return graverEffect(declared, call.effectLevel ?? unsaid);
}

function faultOf(call: NamedCall, { action, tool }: SealedIntent, { resolution, policy, work }: Known): string | null {
  if (typeof call.malformedArguments === 'string') return call.malformedArguments;
  if (call.malformedArguments === true) return 'The arguments are no JSON object.';
  if (tool === null) return action === 'tool.call' ? 'The call of a tool names its tool.' : null;
  // Thinking is no call, so as one a tool would be counted by no budget.
  if (action === 'model.call') return 'A model call names no tool.';
  if (resolution === null) {
    const declared = policy === null ? null : mistakenFor(policy.tools, tool, work);
    return declared === null ? null : `The name looks like "${declared}" and is another.`;
  }
  if (resolution.kind === 'look_alike')
    return `The name looks like that of another tool of the server "${resolution.serverId}".`;
  const apart = policy === null ? null : declaredUnderAlias(call, tool, { policy, work });
  if (apart !== null) return `The name stands for "${tool}", and the policy names "${apart}" apart from it.`;
  return action === 'tool.call' ? null : 'A registered tool is called as tool.call, and as no other action.';
}

/** `files__read` is written by each model for `files.read`. Rules may know the other aliases as tools of their own. */
function declaredUnderAlias(
  call: NamedCall,
  tool: string,
  { policy, work }: { policy: CompiledPolicy; work: Work | undefined },
): string | null {
  const alias = toolOf(call);
  if (alias === null || alias === tool || alias === tool.replace('.', '__')) return null;
  return declaredApart(policy.tools, { alias, tool }, work);
}
