import type { EffectLevel } from '@countersign/contracts';
import type { Fact, RegistryFact } from '@countersign/policy';

/** A tool in the name space of a declared server. One that the server does not list is registered too, with facts that deny it. */
type ResolvedTool = {
  kind: 'registered';
  /** Its canonical name, `server.tool`. */
  tool: string;
  /** Null: the registry does not say. */
  effectLevel: EffectLevel | null;
  /** Where its calls go; null: to a program on this machine. */
  host: string | null;
  registry: Fact<RegistryFact>;
};

/** A spelling that a reader takes for this declared server, or for another of its tools. */
type LookAlike = { kind: 'look_alike'; serverId: string };

export type ToolResolution = ResolvedTool | LookAlike;

/** Knows the tools of all declared servers. What a server does not tell in time is unavailable. */
export type ToolResolver = {
  /** By canonical name, or by the OpenAI function name that stands for it. Null, at once: no declared server's, so the caller's own. */
  resolve(name: string): Promise<ToolResolution> | null;
  /** For the calls of one answer: each server is asked once, and the time spent waiting is bounded for all of them together. */
  forOneAnswer(): Pick<ToolResolver, 'resolve'>;
};
