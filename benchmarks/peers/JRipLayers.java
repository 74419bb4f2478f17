import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.util.Arrays;
import weka.classifiers.rules.JRip;
import weka.classifiers.rules.Rule;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Version;

/**
 * Binary relevance or a classifier chain over JRip with its defaults; started by jrip.py.
 *
 * Arguments: a file with the data as JRipWorker reads them, and "br" or "chain". In a chain the
 * labels before are nominal features: the true ones in learning, the predicted ones in predicting.
 * Prints the version; the CPU seconds of the thread for learning and for predicting; then for each
 * label the rules without the default rule, their conditions, whether the default is presence, and
 * the predictions for the test rows, a digit each.
 */
public class JRipLayers {
  static double[][] widened(double[][] X, double[][] Y, int labels) {
    double[][] wide = new double[X.length][];
    for (int i = 0; i < X.length; i++) {
      wide[i] = Arrays.copyOf(X[i], X[i].length + labels);
      System.arraycopy(Y[i], 0, wide[i], X[i].length, labels);
    }
    return wide;
  }

  static int[] kindsWith(int[] kinds, int labels) {
    int[] wide = Arrays.copyOf(kinds, kinds.length + labels);
    Arrays.fill(wide, kinds.length, wide.length, 2);
    return wide;
  }

  static String size(JRip learner) {
    int rules = 0, conditions = 0;
    for (Rule rule : learner.getRuleset()) {
      if (rule.hasAntds()) {
        rules++;
        conditions += (int) rule.size();
      }
    }
    return rules + " " + conditions + " " + (isDefaultPresent(learner) ? 1 : 0);
  }

  /** Rules know classes by numbers of JRip's own order, so the default is read as it is printed. */
  static boolean isDefaultPresent(JRip learner) {
    for (String line : learner.toString().split("\n"))
      if (line.trim().startsWith("=> y=")) return line.trim().startsWith("=> y=1");
    throw new IllegalStateException("no default rule in " + learner);
  }

  static double seconds() {
    return JRipWorker.CLOCK.getCurrentThreadCpuTime() * 1e-9;
  }

  public static void main(String[] arguments) throws Exception {
    DataInputStream file =
        new DataInputStream(new BufferedInputStream(new FileInputStream(arguments[0])));
    boolean isChain = arguments[1].equals("chain");
    int nTrain = file.readInt(), nTest = file.readInt();
    int nFeatures = file.readInt(), nLabels = file.readInt();
    int[] kinds = new int[nFeatures];
    for (int j = 0; j < nFeatures; j++) kinds[j] = file.readInt();
    double[][] trainX = JRipWorker.table(file, nTrain, nFeatures);
    double[][] trainY = JRipWorker.table(file, nTrain, nLabels);
    double[][] testX = JRipWorker.table(file, nTest, nFeatures);
    double[][] testY = JRipWorker.table(file, nTest, nLabels);
    double[][] predicted = new double[nTest][nLabels];
    String[] lines = new String[nLabels];
    double learning = 0, predicting = 0;
    for (int label = 0; label < nLabels; label++) {
      int before = isChain ? label : 0;
      int[] wide = kindsWith(kinds, before);
      Instances train = JRipWorker.instances(widened(trainX, trainY, before), trainY, label, wide);
      double start = seconds();
      JRip learner = JRipWorker.built(train, 1);
      learning += seconds() - start;
      Instances test = JRipWorker.instances(widened(testX, predicted, before), testY, label, wide);
      start = seconds();
      int row = 0;
      for (Instance one : test) predicted[row++][label] = learner.classifyInstance(one);
      predicting += seconds() - start;
      StringBuilder digits = new StringBuilder();
      for (double[] cells : predicted) digits.append((int) cells[label]);
      lines[label] = size(learner) + " " + digits;
    }
    System.out.println(Version.VERSION);
    System.out.println(learning + " " + predicting);
    for (String line : lines) System.out.println(line);
  }
}
