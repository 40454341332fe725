// What the editor page uses of CodeMirror, as one script: `CodeMirror.EditorView` and so on.
export { Compartment, EditorState } from "@codemirror/state";
export {
  EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
export {
  StreamLanguage, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
export { forceLinting, lintGutter, lintKeymap, linter } from "@codemirror/lint";
export {
  autocompletion, closeBrackets, closeBracketsKeymap, completeAnyWord, completionKeymap,
} from "@codemirror/autocomplete";
export { classHighlighter, tags } from "@lezer/highlight";
