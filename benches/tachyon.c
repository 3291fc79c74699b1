/* A picture by Debian's libtachyon-mpich, whose ranks trace lines in turn and send them by persistent requests: spheres in a ring
 * on a plane. */
#include <math.h>
#include <string.h>
#include <tachyon.h>

static void *surface(SceneHandle scene, float red, float green, float blue, float mirror)
{
    apitexture texture;
    memset(&texture, 0, sizeof texture);
    texture.texturefunc = 0;
    texture.col = rt_color(red, green, blue);
    texture.shadowcast = 1;
    texture.ambient = 0.1;
    texture.diffuse = 0.8;
    texture.specular = mirror;
    texture.opacity = 1;
    return rt_texture(scene, &texture);
}

int main(int argc, char **argv)
{
    rt_initialize(&argc, &argv);
    SceneHandle scene = rt_newscene();
    rt_outputfile(scene, "picture.ppm");
    rt_outputformat(scene, RT_FORMAT_PPM);
    rt_resolution(scene, 400, 300);
    rt_verbose(scene, 0);
    rt_aa_maxsamples(scene, 0);
    rt_set_numthreads(scene, 1);
    rt_background(scene, rt_color(0.1, 0.1, 0.3));
    rt_camera_position(scene, rt_vector(0, 3, -9), rt_vector(0, -0.3, 1), rt_vector(0, 1, 0));
    rt_camera_zoom(scene, 1);
    rt_camera_raydepth(scene, 5);
    rt_light(scene, surface(scene, 1, 1, 1, 0), rt_vector(5, 9, -6), 0.5);
    rt_plane(scene, surface(scene, 0.6, 0.6, 0.5, 0.2), rt_vector(0, -1, 0), rt_vector(0, 1, 0));
    for (int i = 0; i < 24; i++) {
        double angle = i * 0.2618;
        void *texture = surface(scene, 0.3 + 0.7 * (i % 3 == 0), 0.3 + 0.7 * (i % 3 == 1), 0.3 + 0.7 * (i % 3 == 2), 0.4);
        rt_sphere(scene, texture, rt_vector(4 * cos(angle), 0.3 * (i % 4), 4 * sin(angle)), 0.6);
    }
    rt_renderscene(scene);
    rt_deletescene(scene);
    rt_finalize();
    return 0;
}
