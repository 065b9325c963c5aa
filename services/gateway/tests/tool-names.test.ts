import { describe, expect, it } from '@jest/globals';
import { toolOfFunctionName } from '@countersign/contracts';
import { functionNameOf } from '../src/runs/tool-names.ts';

describe('the name of a tool', () => {
  it.each(['files.write', 'files.fs.read', 'files.read__all', 'files._hidden', 'my_files.write', 'countersign'])(
    '%s comes back from a model as it was, in either spelling',
    (tool) => {
      expect(toolOfFunctionName(functionNameOf(tool))).toBe(tool);
      expect(toolOfFunctionName(tool)).toBe(tool);
    },
  );
});
