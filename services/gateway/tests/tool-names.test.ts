import { describe, expect, it } from '@jest/globals';
import { toolOfFunctionName } from '@countersign/contracts';
import { functionNameOf } from '../src/runs/tool-names.ts';

describe('the name of a tool', () => {
  it.each(['files.write', 'files.fs.read', 'files.read__all', 'files._hidden', 'my_files.write', 'countersign'])(
    '%s is unchanged after a round trip through a model, in both spellings',
    (tool) => {
      expect(toolOfFunctionName(functionNameOf(tool))).toBe(tool);
      expect(toolOfFunctionName(tool)).toBe(tool);
    },
  );

  it.each([
    ['mcp__files__write', 'files.write'],
    ['mcp__files.write', 'files.write'],
    ['mcp__mcp__files__write', 'files.write'],
    ['mcp__files', 'mcp.files'],
    ['mcp_files', 'mcp_files'],
    ['files.mcp__a__b', 'files.mcp__a__b'],
  ])('%s from a client is resolved to %s', (name, tool) => {
    expect(toolOfFunctionName(name)).toBe(tool);
    expect(toolOfFunctionName(tool)).toBe(tool);
  });
});
