// Entry of every worker under Node.
import "../runtime/node-worker-scope.ts";
import "./worker.ts";
