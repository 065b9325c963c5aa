import { ProtocolError, ProtocolErrorCode, type CallToolResult, type Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Models choose badly among more than a hundred tools, and their provider may refuse more than 128. */
export const searchedFrom = 101;

/** No tool of a server is listed under this name, since the server name `countersign` is reserved. */
export const searchToolName = 'countersign__search_tools';

const resultsDefault = 10;
const resultsMax = 20;

const Arguments = z.strictObject({
  query: z.string().min(1).max(500),
  limit: z.int().min(1).max(resultsMax).default(resultsDefault),
});

/**
 * The search tool is listed only if there are more than a hundred tools. Its results contain nothing beyond the list,
 * so its calls are answered without a decision, like a list.
 */
export const searchTool: Tool = {
  name: searchToolName,
  description: 'Finds tools of this server by words of their names and descriptions, the best match first.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 500, description: 'Words, such as "create issue"' },
      limit: { type: 'integer', minimum: 1, maximum: resultsMax, default: resultsDefault },
    },
    required: ['query'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** The tools of a list that match, with their definitions. Throws a ProtocolError for malformed arguments. */
export function searchTools(tools: readonly Tool[], args: unknown): CallToolResult {
  const read = Arguments.safeParse(args);
  if (!read.success) {
    const [issue] = read.error.issues;
    const problem = `params.arguments.${issue?.path.map(String).join('.')}: ${issue?.message}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
  }
  const { query, limit } = read.data;
  const words = [...new Set(wordsOf(query))];
  const matches = tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || (left.tool.name < right.tool.name ? -1 : 1));
  const found = matches.slice(0, limit).map(({ tool: { name, description, inputSchema } }) => {
    return { name, description: description ?? '', inputSchema };
  });
  const result = { tools: found, matches: matches.length };
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
}

/**
 * A word in the name scores more than a word in the description. The beginning of a word in the name scores less than
 * the whole word.
 */
function scoreOf({ name, description = '' }: Tool, words: readonly string[]): number {
  const [inName, inDescription] = [wordsOf(name), new Set(wordsOf(description.slice(0, describedBy)))];
  return words.reduce((score, word) => {
    if (inName.includes(word)) return score + 4;
    if (inName.some((one) => one.startsWith(word))) return score + 2;
    return inDescription.has(word) ? score + 1 : score;
  }, 0);
}

/** The number of characters of a description that are searched. */
const describedBy = 2_000;

/** `createIssue`, `create_issue` and `create issue` have the same words. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
